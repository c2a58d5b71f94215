package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	queries := []Query{{Skill: "pdf", Query: "fill in", ShouldTrigger: true}, {Skill: "pdf", Query: "bake", ShouldTrigger: false}}
	tests := map[string]struct {
		file, content string
		want          Suite
	}{
		"an array of queries": {"q.json", `[{"query":"fill in","should_trigger":true,"note":1},{"query":"bake","should_trigger":false}]`, Suite{Queries: queries}},
		"YAML":                {"q.yaml", "- query: fill in\n  should_trigger: true\n- {query: bake, should_trigger: false}\n", Suite{Queries: queries}},
		"a byte order mark":   {"q.json", "\ufeff[]", Suite{}},
		"evals": {"evals.json", `{"skill_name":"xlsx","version":2,"evals":[
			{"id":7,"prompt":"Sum up","expected_output":"A sum","files":["evals/files/a.csv"],"assertions":["file:out/*"],"tags":["x"]},
			{"id":"b","prompt":"Sort","expectations":["sorted",{"text":"no row is lost"}]},
			{"prompt":"Count"}]}`, Suite{Evals: []Eval{
			{Skill: "xlsx", ID: "7", hasNumber: true, Prompt: "Sum up", ExpectedOutput: "A sum", Files: []string{"evals/files/a.csv"}, Assertions: []string{"file:out/*"}},
			{Skill: "xlsx", ID: "b", Prompt: "Sort", Assertions: []string{"sorted", "no row is lost"}},
			{Skill: "xlsx", ID: "3", hasNumber: true, Prompt: "Count"},
		}}},
		"both in YAML": {"s.yml", "skill_name: xlsx\nqueries: [{query: q, should_trigger: true}]\nevals: [{id: 1, prompt: p}]\n", Suite{
			Queries: []Query{{Skill: "xlsx", Query: "q", ShouldTrigger: true}}, Evals: []Eval{{Skill: "xlsx", ID: "1", hasNumber: true, Prompt: "p"}},
		}},
		"an array of evals":    {"e.json", `[{"id":1,"prompt":"p"}]`, Suite{Evals: []Eval{{Skill: "pdf", ID: "1", hasNumber: true, Prompt: "p"}}}},
		"JSON of no extension": {"standard input", ` {"queries":[]}`, Suite{}},
		"YAML of no extension": {"standard input", "- query: fill in\n  should_trigger: true\n- {query: bake, should_trigger: false}\n", Suite{Queries: queries}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read, err := parse(test.file, []byte(test.content), "pdf")
			if err != nil {
				t.Fatal(err)
			}
			got := read.suite
			for i := range got.Queries {
				if !strings.HasPrefix(got.Queries[i].From, test.file+": ") {
					t.Errorf("from %q", got.Queries[i].From)
				}
				got.Queries[i].From = ""
			}
			for i := range got.Evals {
				got.Evals[i].From = ""
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestParseErrorsNameFileAndField(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	tests := map[string]struct{ file, content, want string }{
		"no JSON":                {"q.json", `[{"query"`, "q.json: the JSON value has no end"},
		"text behind the value":  {"q.json", `[] []`, "q.json: text after the JSON value"},
		"no YAML":                {"q.yaml", "a: [", "q.yaml: yaml: line 1"},
		"two documents":          {"q.yaml", "[]\n---\n[]\n", "more than one YAML document"},
		"too large":              {"q.json", strings.Repeat(" ", maxSuite+1), "want at most 4194304"},
		"a number":               {"q.json", `3`, "q.json: is 3: want an object or an array"},
		"an empty file of YAML":  {"q.yaml", "", "q.yaml: is empty: want {"},
		"comments alone":         {"q.yaml", "# queries\n", "q.yaml: holds comments alone"},
		"an empty file":          {"q.json", "\ufeff \n", "q.json: is empty: want {"},
		"neither":                {"q.json", `{"skill_name":"x"}`, `has neither "queries" nor "evals"`},
		"the name is a number":   {"q.json", `{"skill_name":3,"queries":[]}`, "q.json: skill_name: is 3"},
		"queries are no array":   {"q.json", `{"queries":{}}`, "q.json: queries: is an object: want an array"},
		"a query is text":        {"q.json", `["x"]`, `q.json: [0]: is "x": want an object`},
		"no query":               {"q.json", `{"queries":[{"should_trigger":true}]}`, "q.json: queries[0].query: is missing"},
		"an eval for a query":    {"evals/eval_queries.json", `[{"prompt":"p"}]`, `evals/eval_queries.json: [0]: has "prompt" and not "query": want {"query", "should_trigger"}; evals stand in evals.json`},
		"an eval in YAML":        {"eval_queries.yml", "- prompt: p\n", `eval_queries.yml: [0]: has "prompt"`},
		"a prompt for a query":   {"q.json", `[{"prompt":"p","should_trigger":true}]`, "q.json: [0].query: is missing"},
		"a blank query":          {"q.json", `[{"query":" ","should_trigger":true}]`, "q.json: [0].query: is blank"},
		"a long query":           {"q.json", `[{"query":"` + long + `","should_trigger":true}]`, "[0].query: has 65537 bytes"},
		"no should_trigger":      {"q.json", `[{"query":"q"}]`, "q.json: [0].should_trigger: is missing: want true or false"},
		"should_trigger as text": {"q.yaml", "- query: q\n  should_trigger: 'yes'\n", `q.yaml: [0].should_trigger: is "yes": want true or false`},
		"no prompt":              {"e.json", `{"evals":[{"id":1}]}`, "e.json: evals[0].prompt: is missing"},
		"an id of two evals":     {"e.json", `{"skill_name":"x","evals":[{"id":1,"prompt":"p"},{"id":"1","prompt":"p"}]}`, `e.json: evals[1].id: "1" is the id of another eval`},
		"an id that is an array": {"e.json", `{"evals":[{"id":[],"prompt":"p"}]}`, "evals[0].id: is an array: want text or a number"},
		"a file elsewhere":       {"e.json", `{"evals":[{"prompt":"p","files":["a","../b"]}]}`, `evals[0].files[1]: is "../b"`},
		"an absolute file":       {"e.json", `{"evals":[{"prompt":"p","files":["/etc/passwd"]}]}`, `evals[0].files[0]: is "/etc/passwd"`},
		"files are text":         {"e.json", `{"evals":[{"prompt":"p","files":"a"}]}`, `evals[0].files: is "a": want an array`},
		"an assertion is null":   {"e.json", `{"evals":[{"prompt":"p","assertions":[null]}]}`, "evals[0].assertions[0]: is missing"},
		"no skill":               {"q.json", `{"queries":[{"query":"q","should_trigger":true}]}`, "q.json: skill_name: is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(test.file, []byte(test.content), "")
			if !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// Files that cost yaml.v3 minutes are refused or read in time.
func TestParseHostileYAML(t *testing.T) {
	aliases := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		aliases += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	var keys strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for name, text := range map[string]string{
		"aliases": aliases, "keys": keys.String(), "depth": strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "itself": "a: &a [*a]\n",
	} {
		began := time.Now()
		if _, err := parse("s.yaml", []byte(text), "pdf"); !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), "s.yaml: ") {
			t.Errorf("%s: error %v", name, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{
		`[{"query":"q","should_trigger":true}]`, `{"skill_name":"a","evals":[{"id":1.5e3,"prompt":"p","files":["a/../../b"],"assertions":[{"text":"x"}]}]}`,
		`{"queries":null,"evals":[]}`, `[[[[`, "\ufeff{}", `{"skill_name":"\ud800","queries":[{}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) { checkParse(t, "s.json", content) })
}

func FuzzParseYAML(f *testing.F) {
	for _, text := range []string{
		"- query: q\n  should_trigger: true\n", "skill_name: a\nevals:\n- id: 0x10\n  prompt: |\n    p\n", "a: &a [*a]", "? [x]\n: y\n",
		"a: &a [x,x]\nb: &b [*a,*a]\nqueries: [*b]\n", "{queries: [{query: !!binary aGk=, should_trigger: yes}]}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) { checkParse(t, "s.yaml", content) })
}

// checkParse checks what holds for each file: an error is of the file and short, and requests have
// what a run needs.
func checkParse(t *testing.T, file string, content []byte) {
	t.Helper()
	read, err := parse(file, content, "")
	if err != nil {
		if !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), file) || len(err.Error()) > 1000 {
			t.Errorf("error %v", err)
		}
		return
	}
	for _, q := range read.suite.Queries {
		if q.Skill == "" || strings.TrimSpace(q.Query) == "" || q.From == "" {
			t.Errorf("query %+v", q)
		}
	}
	ids := map[string]bool{}
	for _, e := range read.suite.Evals {
		if e.Skill == "" || strings.TrimSpace(e.Prompt) == "" || e.ID == "" || ids[e.ID] {
			t.Errorf("eval %+v", e)
		}
		ids[e.ID] = true
		for _, file := range e.Files {
			if strings.HasPrefix(file, "/") || strings.HasPrefix(file, "..") {
				t.Errorf("file %q", file)
			}
		}
	}
}

// The id of an eval is in a report as its suite has it, and both forms are read.
func TestIDsAreWrittenAsTheyAre(t *testing.T) {
	read, err := parse("s.yaml", []byte("evals: [{id: 7, prompt: p}, {id: '8', prompt: p}, {id: .nan, prompt: p}, {prompt: p}]"), "pdf")
	if err != nil {
		t.Fatal(err)
	}
	report := &Report{Mode: Outcome}
	for _, e := range read.suite.Evals {
		report.Evals = append(report.Evals, Comparison{Skill: e.Skill, ID: e.ID, hasNumber: e.hasNumber, With: Side{PassRate: ptr(1.0)}})
	}
	before := &Report{Mode: Outcome}
	text, err := json.Marshal(report)
	if err == nil {
		err = json.Unmarshal(text, before)
	}
	if err != nil || !strings.HasPrefix(string(text), `{"mode":"outcome","evals":[{"skill":"pdf","id":7,"with":{`) {
		t.Fatalf("%v: %s", err, text)
	}
	for i, want := range []string{`"id":7,`, `"id":"8",`, `"id":"NaN",`, `"id":4,`} {
		if !strings.Contains(string(text), want) || before.Evals[i].ID != report.Evals[i].ID {
			t.Errorf("no %s in %s; read %+v", want, text, before.Evals[i])
		}
		report.Evals[i].With.PassRate = ptr(0.5)
	}
	if err := report.Compare(before); err != nil || len(report.Changes) != 4 {
		t.Fatalf("%v, %v", err, report.Changes)
	}
	text, err = json.Marshal(report.Changes[:2])
	if want := `[{"skill":"pdf","id":7,"was":1,"is":0.5,"change":"worse"},{"skill":"pdf","id":"8","was":1,"is":0.5,"change":"worse"}]`; err != nil || string(text) != want {
		t.Errorf("%v: %s", err, text)
	}
	old := new(Comparison)
	if err := json.Unmarshal([]byte(`{"skill":"pdf","id":"7","with":{"trials":3}}`), old); err != nil || old.ID != "7" || old.With.Trials != 3 {
		t.Errorf("%+v, %v", old, err)
	}
	if err := json.Unmarshal([]byte(`{"id":{}}`), old); err == nil {
		t.Error("an object is no id")
	}
}
