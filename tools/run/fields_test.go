package run

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/tools"
)

// The schema of skill_run, byte for byte. It does not show the other forms that
// are accepted.
func TestRunSchema(t *testing.T) {
	want, err := os.ReadFile("testdata/skill_run.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	run := (&Runner{}).Run()
	if got := run.Tool().Schema; string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// decode decodes the arguments of skill_run.
func decode(raw string) tools.Args {
	run := (&Runner{}).Run()
	return run.Decode(raw)
}

// readFields decodes fields of skill_run, given without their braces.
func readFields(fields string) (*plan, error) {
	return (&Runner{}).planOf(decode(`{"skill":"s",` + fields + `}`))
}

// TestLenientFields gives each field of skill_run in the forms that models use
// and compares the result with that of the documented form.
func TestLenientFields(t *testing.T) {
	globs := func(all ...string) collect.Spec { return collect.Spec{Globs: all} }
	full := collect.Spec{Globs: []string{"out/*"}, Inline: true, Save: true, NameTemplate: "p/", MaxFiles: 5}
	input := func(all ...string) (in []workspace.Input) {
		for _, from := range all {
			in = append(in, workspace.Input{From: from})
		}
		return in
	}
	const command, script = `"command":"true",`, `"script":"x.py",`
	for _, tt := range []struct {
		name, fields string
		part         func(*plan) any
		want         any
	}{
		{"outputs", command + `"outputs":{"globs":["out/*"],"inline":true,"save":true,"name_template":"p/","max_files":5}`, outputsOf, full},
		{"outputs as a list", command + `"outputs":["out/a","out/b"]`, outputsOf, globs("out/a", "out/b")},
		{"outputs as an empty list", command + `"outputs":[]`, outputsOf, collect.Spec{}},
		{"outputs as text", command + `"outputs":"out/*.txt"`, outputsOf, globs("out/*.txt")},
		{"outputs as a braced glob", command + `"outputs":"{out,work}/*"`, outputsOf, globs("{out,work}/*")},
		{"outputs as a glob in brackets", command + `"outputs":"[1]/x"`, outputsOf, globs("[1]/x")},
		{"outputs as blank text", command + `"outputs":" "`, outputsOf, collect.Spec{}},
		{"outputs as JSON", command + `"outputs":"{\"globs\":[\"out/*\"],\"inline\":true,\"save\":\"true\",\"name_template\":\"p/\",\"max_files\":\"5\"}"`, outputsOf, full},
		{"outputs as a JSON list", command + `"outputs":" [\"out/a\"] "`, outputsOf, globs("out/a")},
		{"outputs with texts for the rest", command + `"outputs":{"globs":"out/*","inline":" TRUE ","save":"true","name_template":"p/","max_files":" 5 "}`, outputsOf, full},
		{"outputs with false as text", command + `"outputs":{"globs":["out/*"],"inline":"false","save":"False"}`, outputsOf, globs("out/*")},
		{"outputs with capitals", command + `"outputs":{"Globs":"[\"out/*\"]","Inline":"true","Save":"1","NameTemplate":"p/","maxFiles":"5"}`, outputsOf, full},
		{"outputs with blanks and nulls", command + `"outputs":{"globs":["out/*"],"inline":"","save":null,"name_template":"","max_files":""}`, outputsOf, globs("out/*")},
		{"outputs with a whole number in other words", command + `"outputs":{"globs":["a"],"max_files":5.0,"max_file_bytes":1e3}`, outputsOf, collect.Spec{Globs: []string{"a"}, MaxFiles: 5, MaxFileBytes: 1000}},
		{"outputs with what nobody knows", command + `"outputs":{"globs":["a"],"future":{"x":[1]}}`, outputsOf, globs("a")},

		{"inputs", command + `"inputs":[{"from":"host:///a","to":"work/b","mode":"link","pin":true}]`, inputsOf, []workspace.Input{{From: "host:///a", To: "work/b", Mode: "link", Pin: true}}},
		{"inputs as an object", command + `"inputs":{"from":"host:///a","pin":"true"}`, inputsOf, []workspace.Input{{From: "host:///a", Pin: true}}},
		{"inputs as text", command + `"inputs":"host:///a"`, inputsOf, input("host:///a")},
		{"inputs as a list of texts", command + `"inputs":["host:///a","skill://b/c"]`, inputsOf, input("host:///a", "skill://b/c")},
		{"inputs as a mixed list", command + `"inputs":["host:///a",{"from":"skill://b/c"}]`, inputsOf, input("host:///a", "skill://b/c")},
		{"inputs as JSON", command + `"inputs":"[{\"from\":\"host:///a\"}]"`, inputsOf, input("host:///a")},
		{"inputs as a JSON object", command + `"inputs":"{\"from\":\"host:///a\"}"`, inputsOf, input("host:///a")},
		{"inputs as JSON in the list", command + `"inputs":["{\"from\":\"host:///a\"}"]`, inputsOf, input("host:///a")},
		{"inputs as an empty object", command + `"inputs":{}`, inputsOf, []workspace.Input{}},
		{"inputs as blank text", command + `"inputs":""`, inputsOf, []workspace.Input{}},
		{"inputs with false as text", command + `"inputs":[{"from":"host:///a","pin":"false","to":null}]`, inputsOf, input("host:///a")},

		{"env", command + `"env":{"A":"1"}`, envOf, map[string]string{"A": "1"}},
		{"env with numbers and booleans", command + `"env":{"A":1,"B":1.50,"C":-2e3,"D":true,"E":false,"F":12345678901234567890}`, envOf,
			map[string]string{"A": "1", "B": "1.50", "C": "-2e3", "D": "true", "E": "false", "F": "12345678901234567890"}},
		{"env with null and empty text", command + `"env":{"A":null,"B":""}`, envOf, map[string]string{"B": ""}},
		{"env as JSON", command + `"env":"{\"A\":1}"`, envOf, map[string]string{"A": "1"}},
		{"env as blank text", command + `"env":""`, envOf, map[string]string{}},
		{"env as an empty list", command + `"env":[]`, envOf, map[string]string{}},

		{"stdin", command + `"stdin":" a\n "`, stdinOf, " a\n "},
		{"stdin as a number", command + `"stdin":42`, stdinOf, "42"},
		{"stdin as a boolean", command + `"stdin":true`, stdinOf, "true"},
		{"stdin that is JSON", command + `"stdin":"{\"a\":1}"`, stdinOf, `{"a":1}`},
		{"editor_text as a number", command + `"editor_text":1.0`, editorOf, "1.0"},

		{"args", script + `"args":["a","b"]`, argsOf, []string{"a", "b"}},
		{"args as text", script + `"args":"a b"`, argsOf, []string{"a b"}},
		{"args as JSON", script + `"args":"[\"a\",\"b\"]"`, argsOf, []string{"a", "b"}},
		{"args as text that is JSON of something else", script + `"args":"[1,2]"`, argsOf, []string{"[1,2]"}},
		{"args with numbers and booleans", script + `"args":["--n",3,true]`, argsOf, []string{"--n", "3", "true"}},
		{"args as a number", script + `"args":3`, argsOf, []string{"3"}},
		{"args as an object in text", script + `"args":"{\"a\":1}"`, argsOf, []string{`{"a":1}`}},
		{"args as blank text", command + `"args":""`, argsOf, []string{}},

		{"timeout", command + `"timeout":30`, timeoutOf, 30 * time.Second},
		{"timeout with a fraction", command + `"timeout":1.5`, timeoutOf, 2 * time.Second},
		{"timeout below a second", command + `"timeout":0.01`, timeoutOf, time.Second},
		{"timeout as text", command + `"timeout":"30"`, timeoutOf, 30 * time.Second},
		{"timeout with its unit", command + `"timeout":"30s"`, timeoutOf, 30 * time.Second},
		{"timeout with space and unit", command + `"timeout":" 1.5 s "`, timeoutOf, 2 * time.Second},
		{"timeout in minutes", command + `"timeout":"2m"`, timeoutOf, 2 * time.Minute},
		{"timeout in milliseconds", command + `"timeout":"1500ms"`, timeoutOf, 2 * time.Second},
		{"timeout zero", command + `"timeout":0`, timeoutOf, time.Duration(0)},
		{"timeout blank", command + `"timeout":""`, timeoutOf, time.Duration(0)},
		{"timeout beyond any", command + `"timeout":1e30`, timeoutOf, maxTimeout},
		{"timeout by its other name", command + `"timeoutSec":"7"`, timeoutOf, 7 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, err := readFields(tt.fields)
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.part(q); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
		})
	}
}

func outputsOf(q *plan) any {
	spec := q.outputs
	if len(spec.Globs) == 0 {
		spec.Globs = nil
	}
	return spec
}

func inputsOf(q *plan) any  { return q.inputs }
func envOf(q *plan) any     { return q.env }
func stdinOf(q *plan) any   { return q.stdin }
func editorOf(q *plan) any  { return q.editor }
func argsOf(q *plan) any    { return q.args }
func timeoutOf(q *plan) any { return q.timeout }

// TestImpossibleFields checks that an error about a field names the field and the value, and
// gives an example that works.
func TestImpossibleFields(t *testing.T) {
	for _, tt := range []struct{ fields, want string }{
		{`"outputs":5`, `field "outputs": want an object, found the number 5; such as {"outputs":{"globs":["…"]}}`},
		{`"outputs":true`, `field "outputs": want an object, found true; such as {"outputs":{"globs":["…"]}}`},
		{`"outputs":{"globs":{"a":1}}`, `field "outputs": globs: want a list of texts, found an object; such as {"outputs":{"globs":["…"]}}`},
		{`"outputs":[["out/a"]]`, `field "outputs": globs, element 1: want text, found a list; such as {"outputs":{"globs":["…"]}}`},
		{`"outputs":["out/a",null]`, `field "outputs": globs, element 2: want text, found null; such as {"outputs":{"globs":["…"]}}`},
		{`"outputs":{"globs":["a"],"inline":"maybe"}`, `field "outputs": inline: want true or false, found text "maybe"; such as {"outputs":{"globs":["…"],"inline":true}}`},
		{`"outputs":{"globs":["a"],"save":1}`, `field "outputs": save: want true or false, found the number 1; such as {"outputs":{"globs":["…"],"save":true}}`},
		{`"outputs":{"globs":["a"],"max_files":1.5}`, `field "outputs": max_files: want a whole number, found the number 1.5; such as {"outputs":{"globs":["…"],"max_files":1}}`},
		{`"outputs":{"globs":["a"],"max_files":"many"}`, `field "outputs": max_files: want a whole number, found text "many"; such as {"outputs":{"globs":["…"],"max_files":1}}`},
		{`"outputs":{"globs":["a"],"max_files":1e300}`, `field "outputs": max_files: want a whole number, found the number 1e300`},
		{`"outputs":{"globs":["a"],"max_files":[5]}`, `field "outputs": max_files: want a whole number, found a list`},
		{`"outputs":{"globs":["a"],"name_template":["p"]}`, `field "outputs": name_template: want text, found a list; such as {"outputs":{"globs":["…"],"name_template":"…"}}`},
		{`"inputs":5`, `field "inputs": want a list of objects, found the number 5; such as {"inputs":[{"from":"…"}]}`},
		{`"inputs":{"from":"a","pin":"yes"}`, `field "inputs": pin: want true or false, found text "yes"; such as {"inputs":[{"from":"…","pin":true}]}`},
		{`"inputs":"{\"from\":\"a\",\"pin\":\"yes\"}"`, `field "inputs": pin: want true or false, found text "yes"`},
		{`"inputs":[true]`, `field "inputs": element 1: want an object, found true; such as {"inputs":[{"from":"…"}]}`},
		{`"inputs":[{"from":"a"},{"from":["b"]}]`, `field "inputs": element 2, from: want text, found a list; such as {"inputs":[{"from":"…"}]}`},
		{`"inputs":[{"from":"a","pin":"once"}]`, `field "inputs": element 1, pin: want true or false, found text "once"; such as {"inputs":[{"from":"…","pin":true}]}`},
		{`"env":["A=1"]`, `field "env": want an object, found a list; such as {"env":{"NAME":"…"}}`},
		{`"env":"A=1"`, `field "env": want an object, found text "A=1"; such as {"env":{"NAME":"…"}}`},
		{`"env":{"A":{"b":1}}`, `field "env": A: want text, found an object; such as {"env":{"A":"…"}}`},
		{`"env":{"A":["b"]}`, `field "env": A: want text, found a list; such as {"env":{"A":"…"}}`},
		{`"stdin":["a","b"]`, `field "stdin": want text, found a list; such as {"stdin":"…"}`},
		{`"stdin":{"a":1}`, `field "stdin": want text, found an object; such as {"stdin":"…"}`},
		{`"args":{"a":1}`, `field "args": want a list of texts, found an object; such as {"args":["…"]}`},
		{`"args":[["a"]]`, `field "args": element 1: want text, found a list; such as {"args":["…"]}`},
		{`"timeout":"soon"`, `field "timeout": want seconds, found text "soon"; such as {"timeout":30}`},
		{`"timeout":-1`, `field "timeout": want seconds, found the number -1; such as {"timeout":30}`},
		{`"timeout":"NaN"`, `field "timeout": want seconds, found text "NaN"`},
		{`"timeout":[30]`, `field "timeout": want seconds, found a list`},
		{`"timeout":true`, `field "timeout": want seconds, found true`},
		{`"outputs":"` + strings.Repeat(`[`, 900) + `"`, `a [ has no ]`},
		{`"env":{"` + strings.Repeat("N", 900) + `":[]}`, `NNN…: want text, found a list`},
	} {
		t.Run(tt.fields[:min(len(tt.fields), 40)], func(t *testing.T) {
			_, err := readFields(`"command":"true",` + tt.fields)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			checkPlain(t, err)
			if _, example, ok := strings.Cut(err.Error(), "; such as "); ok {
				fields := strings.TrimSuffix(strings.TrimPrefix(example, "{"), "}")
				if _, err := readFields(`"command":"true",` + fields); err != nil && !strings.Contains(err.Error(), "args belong") {
					t.Errorf("the example %s is refused: %v", example, err)
				}
			}
		})
	}
}

// ofGo matches what an error for a model must not contain.
var ofGo = regexp.MustCompile(`json:|Go (value|struct)|\[\]string|map\[|int64|interface`)

func checkPlain(t *testing.T, err error) {
	t.Helper()
	if len(err.Error()) > 700 || ofGo.MatchString(err.Error()) {
		t.Errorf("not for a model: %v", err)
	}
}

func FuzzRunFields(f *testing.F) {
	for _, raw := range []string{
		`{"skill":"s","command":"c","outputs":["a"],"env":{"A":1},"timeout":"1.5s"}`, `{"skill":"s","script":"c","args":"[\"a\"]"}`,
		`{"skill":"s","command":"c","inputs":"{\"from\":\"x\"}","outputs":"{\"max_files\":\"1\"}","stdin":1}`,
		`{"skill":"s","command":"c","inputs":[[{}]],"outputs":{"globs":{}}}`, `{"skill":"s","command":"c","env":"[]","timeout":"-1h"}`,
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := (&Runner{}).planOf(decode(raw))
		var told tools.ModelError
		if err != nil {
			if !errors.Is(err, callargs.ErrArguments) && !errors.As(err, &told) {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if q.timeout < 0 || q.timeout > maxTimeout || q.outputs.Check() != nil {
			t.Fatalf("%q: %+v", raw, q)
		}
		again, err := json.Marshal(map[string]any{"skill": q.skill, "command": q.command, "script": q.script, "args": q.args,
			"env": q.env, "stdin": q.stdin, "inputs": q.inputs, "outputs": q.outputs})
		if err != nil {
			t.Fatal(err)
		}
		b := decode(string(again))
		if err := b.Err(); err != nil {
			t.Fatalf("%q is understood, but not as %s: %v", raw, again, err)
		}
		if p, err := readPlan(b); err != nil || p.stdin != q.stdin || !reflect.DeepEqual(p.args, q.args) || len(p.env) != len(q.env) {
			t.Fatalf("%q means %+v, but written again %+v, %v", raw, q, p, err)
		}
	})
}
