package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

func formSkills(t *testing.T) string {
	return skillDir(t, map[string]string{
		"pdf-forms/SKILL.md":  "---\nname: pdf-forms\ndescription: Fill in and flatten PDF forms.\nlicense: MIT\n---\n# AcroForm\nBody of pdf-forms.\n",
		"pdf-forms/fields.md": "Fields.\n",
		"docx-forms/SKILL.md": "---\nname: docx-forms\ndescription: Fill in forms in Word documents.\n---\nBody of docx-forms.\n",
		"hidden/SKILL.md":     "---\nname: hidden\ndescription: Fill in PDF forms.\ndisable-model-invocation: true\n---\n",
	})
}

func TestSearchCommand(t *testing.T) {
	dir := formSkills(t)
	const one = `{"hits":[{"name":"pdf-forms","location":"DIR/pdf-forms/SKILL.md","score":N,"strong":true}],"less_likely":["docx-forms"],"total":1}` + "\n"
	for name, tt := range map[string]struct {
		in, want string
		args     []string
	}{
		"for people": {want: "1 of 2 skills match\npdf-forms: Fill in and flatten PDF forms.\nless likely: docx-forms\n", args: []string{"flatten a pdf form"}},
		"json":       {want: one, args: []string{"--json", "flatten a pdf form"}},
		"many": {in: `{"queries":["flatten a pdf form"]}` + "\n\n" + `{"queries":[]}` + "\nno\n" + `{"queries":["zeppelin"]}`, args: []string{"--json", "-"},
			want: one + `{"error":"\"queries\" is missing: a request is {\"queries\":[\"…\"],\"limit\":5}"}` + "\n" +
				`{"error":"invalid character 'o' in literal null (expecting 'u'): a request is {\"queries\":[\"…\"],\"limit\":5}"}` + "\n" +
				`{"hits":[],"less_likely":[],"total":0}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := program(t, nil, tt.in, append([]string{"search", "--skills", dir}, tt.args...)...)
			var out strings.Builder
			for line := range strings.Lines(strings.ReplaceAll(got.out, dir, "DIR")) {
				if before, rest, ok := strings.Cut(line, `"score":`); ok {
					_, rest, _ = strings.Cut(rest, ",")
					line = before + `"score":N,` + rest
				}
				out.WriteString(line)
			}
			if got.code != 0 || out.String() != tt.want {
				t.Errorf("code %d, %s\n%s\nwant\n%s", got.code, got.err, out.String(), tt.want)
			}
		})
	}
	if got := program(t, nil, "", "search", "--skills", dir, "--limit", "0", "x"); got.code != cli.ExitUsage {
		t.Errorf("limit 0: code %d", got.code)
	}
}

func TestShowCommand(t *testing.T) {
	dir := formSkills(t)
	got := program(t, nil, "", "show", "--skills", dir, "pdf-forms")
	want := "name: pdf-forms\ndescription: Fill in and flatten PDF forms.\nlocation: " + filepath.Join(dir, "pdf-forms/SKILL.md") +
		"\nlicense: MIT\ndocs: fields.md\nfiles: 2\n\n# AcroForm\nBody of pdf-forms.\n"
	if got.out != want {
		t.Errorf("out\n%s\nwant\n%s", got.out, want)
	}
	if got := program(t, nil, "", "show", "--skills", dir, "pdf-forms", "--files"); got.out != "SKILL.md\nfields.md\n" {
		t.Errorf("files %q", got.out)
	}
	var s struct {
		Name   string
		Hidden bool
	}
	if got := program(t, nil, "", "show", "--skills", dir, "hidden", "--json"); json.Unmarshal([]byte(got.out), &s) != nil || !s.Hidden || s.Name != "hidden" {
		t.Errorf("json %q", got.out)
	}
	if got := program(t, nil, "", "show", "--skills", dir, "pdf-form"); got.code != cli.ExitFailed || !strings.Contains(got.err, `there is no skill "pdf-form"; did you mean pdf-forms`) {
		t.Errorf("unknown: %d %q", got.code, got.err)
	}
}

// answersOf runs satchel tool and returns its answers.
func answersOf(t *testing.T, in string, args ...string) (answers []string) {
	t.Helper()
	got := program(t, nil, in, append([]string{"tool", "--profile", "knowledge_only"}, args...)...)
	if got.code != 0 {
		t.Fatalf("code %d: %s", got.code, got.err)
	}
	for line := range strings.Lines(got.out) {
		var answer string
		if err := json.Unmarshal([]byte(line), &answer); err == nil {
			answers = append(answers, answer)
		}
	}
	return answers
}

func TestToolCommand(t *testing.T) {
	dir := formSkills(t)
	for name, tt := range map[string]struct {
		in   string
		args []string
		want []string
	}{
		"one call":   {args: []string{"skill_load", `{"skill":"pdf-forms"}`}, want: []string{"loaded: pdf-forms\n[skill#1 +pdf-forms@"}},
		"bare text":  {args: []string{"skill_load", `pdf-forms`}, want: []string{"loaded: pdf-forms\n[skill#1 +pdf-forms@"}},
		"view":       {args: []string{"--view", "skill_load", `pdf-forms`}, want: []string{"Body of pdf-forms."}},
		"no such":    {args: []string{"skill_fly"}, want: []string{`error: there is no tool "skill_fly"`}},
		"many lines": {in: "pdf-forms\n\npdf-forms\n", args: []string{"skill_load", "-"}, want: []string{"loaded: pdf-forms\n", "already loaded: pdf-forms; its text is above"}},
		"turns": {in: `{"tool":"skill_load","args":{"skill":"pdf-forms"}}` + "\n" + `{"turn":true}` + "\n" + `{"tool":"skill_select_docs","args":{"skill":"pdf-forms","docs":["fields.md"]}}`,
			args: []string{"-"}, want: []string{"loaded: pdf-forms", "loaded: pdf-forms; its text is above"}},
		"turns, mode turn": {in: `{"tool":"skill_load","args":{"skill":"pdf-forms"}}` + "\n" + `{"turn":true}` + "\n" + `{"tool":"skill_select_docs","args":{"skill":"pdf-forms","docs":["fields.md"]}}`,
			args: []string{"--load-mode", "turn", "-"}, want: []string{"loaded: pdf-forms", "error: skill \"pdf-forms\" is not loaded"}},
		"one message": {in: `{"calls":[{"tool":"skill_load","args":"pdf-forms"},{"tool":"skill_list_docs","args":{"skill":"pdf-forms"}}]}`, args: []string{"-"},
			want: []string{"loaded: pdf-forms", `["fields.md"]`}},
		"search": {args: []string{"--search", "on", "skill_search", `{"queries":["flatten a pdf form"]}`}, want: []string{"1 of 2 skills match:\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := answersOf(t, tt.in, append([]string{"--skills", dir}, tt.args...)...)
			if len(got) != len(tt.want) {
				t.Fatalf("answers %q", got)
			}
			for i := range got {
				if !strings.Contains(got[i], tt.want[i]) {
					t.Errorf("answer %q, want %q in it", got[i], tt.want[i])
				}
			}
		})
	}
}

// A session of a store goes on in the next process, in the same turn.
func TestToolCommandGoesOn(t *testing.T) {
	store := t.TempDir()
	where := []string{"--skills", formSkills(t), "--session", "s", "--store", store}
	answersOf(t, "", append(where, "skill_load", "pdf-forms")...)
	got := answersOf(t, `{"tool":"skill_select_docs","args":{"skill":"pdf-forms","docs":["fields.md"]}}`+"\n"+`{"turn":true}`+"\n", append(where, "-")...)
	if len(got) != 1 || strings.Contains(got[0], "error") {
		t.Errorf("answers %q", got)
	}
	if got := answersOf(t, "", append(where, "skill_select_docs", `{"skill":"pdf-forms","docs":["fields.md"]}`)...); !strings.Contains(got[0], "not loaded") {
		t.Errorf("in the next turn: %q", got)
	}
	for _, args := range [][]string{{"--session", "s", "skill_load"}, {"--approve", "ask", "skill_load"}, {"a", "b", "c"}} {
		if got := program(t, nil, "", append([]string{"tool", "--skills", store}, args...)...); got.code != cli.ExitUsage {
			t.Errorf("%q: code %d", args, got.code)
		}
	}
	for _, in := range []string{"no", "{}"} {
		if got := program(t, nil, in, append(append([]string{"tool"}, where...), "-")...); got.code != cli.ExitUsage {
			t.Errorf("line %q: code %d", in, got.code)
		}
	}
}

// A store that cannot be opened is a wrong argument.
func TestStoreThatCannotBeOpened(t *testing.T) {
	store := skillDir(t, map[string]string{"sessions": "no directory"})
	model := map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
	for _, args := range [][]string{
		{"tool", "--skills", formSkills(t), "--store", store, "skill_load", "{}"},
		{"chat", "--store", store, "hello"},
	} {
		if got := program(t, model, "", args...); got.code != cli.ExitUsage || !strings.Contains(got.err, "--store: ") {
			t.Errorf("%s: %+v", args[0], got)
		}
	}
}

func TestToolCommandEvents(t *testing.T) {
	dir := formSkills(t)
	got := program(t, nil, "", "tool", "--profile", "knowledge_only", "--skills", dir, "--json", "--mentions", "dollar", "--prompt", "use $pdf-forms", "skill_list_docs", "pdf-forms")
	want := `{"event":"catalog.scanned","turn":0,"skill":"","phase":"discovered","detail":"3 skills, 0 diagnostics"}
{"event":"skill.activated","turn":0,"skill":"pdf-forms","phase":"activated","detail":"mention"}
{"event":"skill.loaded","turn":0,"skill":"pdf-forms","phase":"loaded","detail":""}
{"event":"skill.executing","turn":0,"skill":"pdf-forms","phase":"executing","detail":""}
"[\"fields.md\"]"
{"event":"skill.completed","turn":0,"skill":"pdf-forms","phase":"completed","detail":"session"}
`
	if got.out != want {
		t.Errorf("out\n%s\nwant\n%s", got.out, want)
	}
}

func TestToolCommandActivation(t *testing.T) {
	got := answersOf(t, `{"tool":"sql_query","args":{}}`+"\n"+`{"tool":"skill_load","args":"pdf-forms"}`+"\n"+`{"tool":"sql_query","args":{}}`,
		"--skills", formSkills(t), "--activate", "sql_query=pdf-forms", "-")
	if len(got) != 3 || got[0] != `denied: sql_query belongs to skill "pdf-forms"; load it first` || strings.HasPrefix(got[2], "denied") {
		t.Errorf("answers %q", got)
	}
	if got := program(t, nil, "", "tool", "--skills", t.TempDir(), "--activate", "x", "skill_load"); got.code != cli.ExitUsage {
		t.Errorf("code %d", got.code)
	}
	for _, own := range []string{"skill_load", "skill_run", "skill_search", "skill_unload", "skill_update"} {
		got := program(t, nil, "", "tool", "--skills", formSkills(t), "--activate", own+"=pdf-forms", "skill_list_docs", "pdf-forms")
		if got.code == 0 || got.out != "" || !strings.Contains(got.err, `--activate "`+own+`=pdf-forms": "`+own+`" is a tool of Satchel itself`) || strings.Contains(got.err, "WithPermissions") {
			t.Errorf("%s: %d %s%s", own, got.code, got.out, got.err)
		}
	}
	unknown := program(t, nil, "", "tool", "--skills", formSkills(t), "--activate", "sql_query=nope", "skill_list_docs", "pdf-forms")
	if unknown.code != cli.ExitUsage || !strings.Contains(unknown.err, `--activate: "sql_query": unknown skill "nope"`) || strings.Contains(unknown.err, "WithPermissions") {
		t.Errorf("an unknown skill: %d %s%s", unknown.code, unknown.out, unknown.err)
	}
	if got := program(t, nil, "", "tool", "--skills", formSkills(t), "--vocabulary", "runtime-spec", "--activate", "skills_read=pdf-forms", "skills_load", "pdf-forms"); got.code == 0 || !strings.Contains(got.err, `--activate "skills_read=pdf-forms": "skills_read" is a tool of Satchel itself`) {
		t.Errorf("%d %s%s", got.code, got.out, got.err)
	}
}

func TestToolCommandReferencesAndOutline(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"pdf/SKILL.md": "---\nname: pdf\ndescription: Reads.\n---\n# PDF\nFirst sentence. Second one in [a](a.md).\nYou MUST look.\n",
		"pdf/a.md":     "Text of a.\n",
	})
	got := answersOf(t, "", "--skills", dir, "--references", "inline", "--view", "skill_load", "pdf")
	if !strings.HasSuffix(got[0], "\n--- Content from a.md ---\n\nText of a.\n\n--- End of a.md ---") {
		t.Errorf("view %q", got)
	}
	got = answersOf(t, `{"tool":"skill_load","args":"pdf"}`+"\n"+`{"turn":true}`+"\n"+`{"tool":"skill_load","args":"pdf"}`, "--skills", dir, "--load-mode", "session", "--compact", "pdf", "--view", "-")
	if len(got) != 2 || !strings.Contains(got[0], "Second one") || !strings.Contains(got[1], "supersedes") {
		t.Errorf("answers %q", got)
	}
	if got := answersOf(t, "", "--skills", dir, "--vocabulary", "runtime-spec", "skills_load", "pdf"); !strings.HasPrefix(got[0], `{"active_skills":[{"name":"pdf"`) {
		t.Errorf("answer %q", got)
	}
	if got := program(t, nil, "", "tool", "--skills", dir, "--compact", "nope", "skill_load", "pdf"); got.code != cli.ExitUsage || !strings.Contains(got.err, `--compact "nope"`) {
		t.Errorf("code %d: %s", got.code, got.err)
	}
	if got := converse(t, satcheltest.Plan(), "", "chat", "--skills", dir, "--compact", "nope", "hi"); got.code != cli.ExitUsage || !strings.Contains(got.err, `--compact "nope"`) {
		t.Errorf("code %d: %s", got.code, got.err)
	}
	// Skills stay loaded in the next turn, unless a flag changes that.
	turns := `{"tool":"skills_load","args":"pdf"}` + "\n" + `{"turn":true}` + "\n" + `{"tool":"skills_read","args":{"path":"a.md"}}`
	if got := answersOf(t, turns, "--skills", dir, "--vocabulary", "runtime-spec", "-"); len(got) != 2 || !strings.HasSuffix(got[1], "Text of a.") {
		t.Errorf("answers %q", got)
	}
	if got := answersOf(t, turns, "--skills", dir, "--vocabulary", "runtime-spec", "--load-mode", "turn", "-"); len(got) != 2 || !strings.Contains(got[1], "no skill is loaded") {
		t.Errorf("answers %q", got)
	}
	if got := answersOf(t, "", "--skills", dir, "--vocabulary", "runtime-spec", "--placement", "tool-result", "--view", "skills_load", "pdf"); !strings.Contains(got[0], "You MUST look.") {
		t.Errorf("view %q", got)
	}
}
