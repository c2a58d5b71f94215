package eval

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// testCatalog has a skill for each description, by name, and further files.
func testCatalog(t *testing.T, descriptions, files map[string]string) *catalog.Catalog {
	t.Helper()
	skills := fstest.MapFS{}
	for name, description := range descriptions {
		skills[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: " + description + "\n---\nText.\n")}
	}
	for name, text := range files {
		skills[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := catalog.Open(t.Context(), []source.Root{source.FS("test", skills)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var office = map[string]string{
	"pdf":   "Fills in PDF forms and merges pages.",
	"docx":  "Writes letters and forms as Word documents. Fills in forms of letters.",
	"sheet": "Sums up sales in spreadsheets and draws charts.",
}

func TestOffline(t *testing.T) {
	c := testCatalog(t, office, nil)
	suite := &Suite{Queries: []Query{
		{Skill: "pdf", Query: "merge the pages of two PDF files", ShouldTrigger: true},
		{Skill: "pdf", Query: "fill in the forms of a letter", ShouldTrigger: true},
		{Skill: "pdf", Query: "knit a scarf", ShouldTrigger: true},
		{Skill: "pdf", Query: "draw a chart of the sales in this spreadsheet"},
		{Skill: "sheet", Query: "sum up the sales in spreadsheets, please"},
	}}
	var progress []int
	report, err := Run(t.Context(), suite, Options{Catalog: c, Progress: func(done, total int) { progress = append(progress, done*100+total) }})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"mode":"offline","totals":{"skills":2,"queries":5,"recall_1":0.3333333333333333,"recall_5":0.6666666666666666,"false_suggestions":0.5},` +
		`"skills":[{"skill":"pdf","queries":4,"recall_1":0.3333333333333333,"recall_5":0.6666666666666666,"false_suggestions":0},` +
		`{"skill":"sheet","queries":1,"recall_1":null,"recall_5":null,"false_suggestions":1}],` +
		`"queries":[{"skill":"pdf","query":"merge the pages of two PDF files","should_trigger":true,"rank":1,"suggested":true,"above":[]},` +
		`{"skill":"pdf","query":"fill in the forms of a letter","should_trigger":true,"rank":2,"suggested":false,"above":[{"skill":"docx","words":["letter","forms"]}]},` +
		`{"skill":"pdf","query":"knit a scarf","should_trigger":true,"rank":0,"suggested":false,"above":[]},` +
		`{"skill":"pdf","query":"draw a chart of the sales in this spreadsheet","should_trigger":false,"rank":0,"suggested":false,"above":[]},` +
		`{"skill":"sheet","query":"sum up the sales in spreadsheets, please","should_trigger":false,"rank":1,"suggested":true,"above":[],"words":["sales","spreadsheets","sum"]}],` +
		`"collisions":{"pdf":{"docx":1}}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if !slices.Equal(progress, []int{105, 205, 305, 405, 505}) {
		t.Errorf("progress %v", progress)
	}
}

// A skill that the user names in words is loaded by the user, and not suggested.
func TestOfflineNamedSkillIsNotSuggested(t *testing.T) {
	c := testCatalog(t, office, nil)
	suite := &Suite{Queries: []Query{{Skill: "pdf", Query: "use the pdf skill to merge pages", ShouldTrigger: true}}}
	report, err := Run(t.Context(), suite, Options{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	if q := report.Queries[0]; q.Rank != 1 || q.Suggested {
		t.Errorf("rank %d, suggested %v", q.Rank, q.Suggested)
	}
}

func TestRunRefusesSuites(t *testing.T) {
	c := testCatalog(t, office, nil)
	query, eval := Query{Skill: "pdf", Query: "q", From: "f: [0]"}, Eval{Skill: "pdf", ID: "1", Prompt: "p", From: "f: evals[0]"}
	tests := map[string]struct {
		mode  Mode
		suite Suite
		want  string
	}{
		"nothing":           {Offline, Suite{}, "it has no queries"},
		"evals alone":       {Trigger, Suite{Evals: []Eval{eval}}, "it has no queries, which mode trigger asks; mode outcome plays its evals"},
		"queries alone":     {Outcome, Suite{Queries: []Query{query}}, "it has no evals, which mode outcome plays; modes offline and trigger ask its queries"},
		"an unknown skill":  {Offline, Suite{Queries: []Query{query, {Skill: "pdx", Query: "q", From: "f: [1]"}}}, `f: [1]: the skill "pdx"`},
		"an id of two":      {Outcome, Suite{Evals: []Eval{eval, eval}}, `f: evals[0]: id: "1" is the id of f: evals[0] too`},
		"a name by id only": {Offline, Suite{Queries: []Query{{Skill: "fs:test/pdf", Query: "q"}}}, "skill"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report, err := Run(t.Context(), &test.suite, Options{Catalog: c, Mode: test.mode})
			if !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), test.want) || report != nil {
				t.Errorf("error %v, report %v", err, report)
			}
		})
	}
	if _, err := Run(t.Context(), &Suite{}, Options{Catalog: c, Mode: "other"}); err == nil || !strings.Contains(err.Error(), `unknown mode "other"`) {
		t.Errorf("error %v", err)
	}
	if _, err := Run(t.Context(), &Suite{}, Options{}); err == nil {
		t.Error("no catalog, no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, &Suite{Queries: []Query{query}}, Options{Catalog: c}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestOfSkills(t *testing.T) {
	c := testCatalog(t, office, map[string]string{
		"pdf/evals/eval_queries.json": `[{"query":"one","should_trigger":true}]`,
		"pdf/evals.json":              `{"skill_name":"pdf","evals":[{"id":1,"prompt":"two"}]}`,
		"docx/eval_queries.yaml":      "- query: three\n  should_trigger: false\n",
		"sheet/evals/other.json":      "{",
	})
	suite, err := OfSkills(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(suite.Queries) != 2 || suite.Queries[0].Skill != "docx" || suite.Queries[1].Query != "one" || len(suite.Evals) != 1 || suite.Evals[0].Skill != "pdf" {
		t.Errorf("suite %+v", suite)
	}
	for text, want := range map[string]string{
		`{"skill_name":"docx","evals":[]}`: `pdf/evals/evals.json: skill_name: is "docx": want "pdf"`,
		`{"evals":[{}]}`:                   "pdf/evals/evals.json: evals[0].prompt: is missing",
	} {
		c := testCatalog(t, office, map[string]string{"pdf/evals/evals.json": text})
		if _, err := OfSkills(t.Context(), c); !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills in forms.\n---\n")
	c, err := catalog.Open(t.Context(), []source.Root{source.Dir(filepath.Join(dir, "skills"))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const queries = `[{"query":"q","should_trigger":true}]`
	for file, text := range map[string]string{
		"mine.json": `{"skill_name":"pdf","queries":` + queries + `}`, "skills/pdf/q.json": queries, "skills/pdf/evals/q.json": queries,
	} {
		suite, err := ReadFile(write(file, text), c)
		if err != nil || len(suite.Queries) != 1 || suite.Queries[0].Skill != "pdf" {
			t.Errorf("%s: %v, %+v", file, err, suite)
		}
	}
	for file, want := range map[string]string{
		write("other.json", queries):                                         "skill_name: is missing",
		write("unknown.json", `{"skill_name":"pdff","queries":`+queries+`}`): `skill_name: "pdff": the catalog has no such skill; did you mean pdf?`,
		filepath.Join(dir, "none.json"):                                      "no such file",
		dir:                                                                  "is a directory",
	} {
		if _, err := ReadFile(file, c); !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v, want one with %q", file, err, want)
		}
	}
}
