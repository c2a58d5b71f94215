package run

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel/tools"
)

// An unknown name inside a field is reported with its place, also for skill_exec, whose schema
// describes less than it reads.
func TestUnknownInFields(t *testing.T) {
	const outputsHave = "; it has globs, inline, max_file_bytes, max_files, max_total_bytes, name_template, save"
	const inputsHave = "; it has from, mode, pin, to"
	for _, tt := range []struct {
		fields string
		want   []string
	}{
		{`"outputs":{"glob":"out/*"}`, []string{`"glob" in outputs` + outputsHave}},
		{`"outputs":"{\"Glob\":\"out/*\",\"MaxFiles\":3,\"x\":{}}"`, []string{`"Glob" in outputs` + outputsHave}},
		{`"inputs":[{"from":"a"},{"from":"b","dest":"work/b","source":"c"}]`,
			[]string{`"dest" in inputs, element 2` + inputsHave, `"source" in inputs, element 2` + inputsHave}},
		{`"inputs":{"from":"a","dest":"b"}`, []string{`"dest" in inputs, element 1` + inputsHave}},
		{`"inputs":[{"From":"a","to":"b","mode":"copy","pin":true}],"outputs":{"globs":["a"],"max_total_bytes":1}`, nil},
		{`"env":{"glob":"x"},"outputs":{"globs":["a"],"none":"","nothing":null}`, nil},
		{`"z":1,"inputs":[{"from":"a","a":1,"b":1,"c":1,"d":1,"e":1,"f":1}]`, []string{
			`"a" in inputs, element 1` + inputsHave, `"b" in inputs, element 1` + inputsHave, `"c" in inputs, element 1` + inputsHave,
			`"d" in inputs, element 1` + inputsHave, `"e" in inputs, element 1` + inputsHave, ""}},
	} {
		r := &Runner{}
		for _, o := range []tools.Operation{r.Run(), r.Exec()} {
			a := o.Decode(`{"skill":"s","command":"true",` + tt.fields + `}`)
			if err := a.Err(); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range tt.want {
				want = append(want, "ignored unknown field "+w)
				if w == "" {
					want[len(want)-1] = "ignored 2 more unknown fields"
				}
			}
			if !slices.Equal(a.Warnings(), want) {
				t.Errorf("%s %s: warnings %q, want %q", o.Name, tt.fields, a.Warnings(), want)
			}
		}
	}
}

// skill_exec reads what skill_run reads, in all its forms.
func TestExecReadsWhatRunReads(t *testing.T) {
	const raw = `{"skill":"s","command":"true","inputs":{"from":"a","mode":"link","pin":"true"},"outputs":{"globs":"out/*","MaxFiles":"3","save":"true"}}`
	exec := (&Runner{}).Exec()
	a := exec.Decode(raw)
	q, err := readPlan(a)
	if err != nil || !q.inputs[0].Pin || q.outputs.MaxFiles != 3 || !q.outputs.Save || len(a.Warnings()) > 0 {
		t.Errorf("%+v, %q, %v", q, a.Warnings(), err)
	}
}

// Outputs that name no files cause a warning only if they ask for something.
func TestOutputsWithoutGlobs(t *testing.T) {
	for fields, warns := range map[string]bool{
		`"outputs":{"inline":true}`: true, `"outputs":{"save":true,"globs":[]}`: true, `"outputs":{"max_files":3}`: true,
		`"save_as_artifacts":true`: true, `"save_as_artifacts":true,"output_files":""`: true,
		`"outputs":{}`: false, `"outputs":{"inline":false,"globs":[],"max_files":0,"name_template":""}`: false,
		`"output_files":[],"omit_inline_content":true,"artifact_prefix":"p/"`: false,
		`"save_as_artifacts":true,"output_files":"out/*"`:                     false, `"outputs":{"inline":true,"globs":"out/*"}`: false,
	} {
		q, err := readFields(`"command":"true",` + fields)
		if err != nil {
			t.Fatal(err)
		}
		if (len(q.warnings) > 0) != warns || q.collects && warns {
			t.Errorf("%s: warnings %q", fields, q.warnings)
		}
	}
}
