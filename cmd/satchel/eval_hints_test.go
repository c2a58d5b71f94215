package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

// A false query that suggests its skill says by which words, in every form of a report.
func TestEvalSaysWhyASkillIsSuggested(t *testing.T) {
	skills := rivals(t)
	dir := t.TempDir()
	junit, page := filepath.Join(dir, "j.xml"), filepath.Join(dir, "p.html")
	got := program(t, nil, "", "eval", "--skills", skills, "--junit", junit, "--html", page)
	if want := "  docx: write Word documents\n    suggested (documents, word, write)\n"; got.code != 0 || !strings.Contains(got.out, want) {
		t.Errorf("code %d, no %q in %s", got.code, want, got.out)
	}
	for file, wants := range map[string][]string{
		junit: {`message="suggested (documents, word, write)"`},
		page:  {`{"text":"1"},{"text":"yes","state":"bad"},{"text":"documents, word, write"}`, `{"text":"not found"},{"text":"no","state":"good"},{"text":""}`, `{"text":"2","state":"bad"},{"text":"yes"},{"text":"pdf (pdf, fill)"}`},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("no %q in %s", want, filepath.Base(file))
			}
		}
	}
	for _, q := range reportOf(t, program(t, nil, "", "eval", "--skills", skills, "--json")).Queries {
		if isFalseSuggestion := q.Suggested && !q.ShouldTrigger; isFalseSuggestion != (len(q.Words) > 0) {
			t.Errorf("%q: suggested %v by %q", q.Query, q.Suggested, q.Words)
		}
	}
}

// Suggestions also compare meanings. A report says so where the query shares no word with the skill.
func TestEvalSaysThatASkillIsSuggestedByMeaning(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"bills/SKILL.md": "---\nname: bills\ndescription: Writes invoices for clients.\n---\nText.\n",
		"bills/evals/eval_queries.json": `[
			{"query": "file my receipts", "should_trigger": false},
			{"query": "receipts", "should_trigger": true}]`,
	})
	page := filepath.Join(t.TempDir(), "p.html")
	got := program(t, nil, "", "eval", "--skills", skills, "--html", page)
	for _, want := range []string{
		"  bills: file my receipts\n    suggested by meaning: no word is shared\n",
		"  bills: receipts\n    not found by its words, but suggested\n",
	} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("code %d, no %q in %s", got.code, want, got.out)
		}
	}
	text, err := os.ReadFile(page)
	if want := `{"text":"yes","state":"bad"},{"text":"by meaning"}`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("error %v, no %q in the page", err, want)
	}
}

// Errors say where a suite was looked for, and which flag is in the way.
func TestEvalNamesTheFlagAndTheFiles(t *testing.T) {
	skills, none, dir := rivals(t), testSkills(t), t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	pdf := write("pdf.json", `{"key": "p", "allow": ["pdf"]}`)
	docx := write("docx.json", `{"key": "d", "allow": ["docx"]}`)
	const suite = `{"skill_name": "docx", "queries": [{"query": "q", "should_trigger": true}]}`
	excluded := "--audience " + pdf + ` does not allow docx: add it under "allow", or ask without the flag`
	tests := map[string]struct {
		args []string
		code int
		err  string
	}{
		"a suite of an excluded skill":       {[]string{"--skills", skills, "--audience", pdf, "--suite", write("s.json", suite)}, cli.ExitUsage, excluded},
		"standard input":                     {[]string{"--skills", skills, "--audience", pdf, "--suite", "-"}, cli.ExitUsage, excluded},
		"an unknown skill":                   {[]string{"--skills", skills, "--audience", pdf, "--suite", write("u.json", `{"skill_name": "pfd", "queries": []}`)}, cli.ExitUsage, "the catalog has no such skill"},
		"an allowed skill":                   {[]string{"--skills", skills, "--audience", docx, "--suite", write("a.json", suite)}, cli.ExitDone, ""},
		"all suites are of excluded skills":  {[]string{"--skills", skills, "--audience", pdf}, cli.ExitUsage, "--audience " + pdf + " allows no skill that brings a suite, and leaves out docx, xlsx"},
		"some suites are of excluded skills": {[]string{"--skills", skills, "--audience", docx}, cli.ExitDone, ""},
		"no suite":                           {[]string{"--skills", none}, cli.ExitUsage, "looked for evals.json and eval_queries.json, or .yaml or .yml, in the folders of "},
		"an empty suite":                     {[]string{"--skills", none, "--suite", write("e.json", `{"skill_name": "pdf", "queries": []}`)}, cli.ExitUsage, "e.json: no queries and no evals"},
		"a folder":                           {[]string{skills}, cli.ExitUsage, "did you mean --skills " + skills + "?"},
		"a folder after the verb":            {[]string{"run", skills}, cli.ExitUsage, "did you mean --skills " + skills + "?"},
		"no folder":                          {[]string{filepath.Join(dir, "none")}, cli.ExitUsage, "unexpected argument "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := program(t, nil, suite, append([]string{"eval"}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.err, test.err) || test.err == "" && got.err != "" {
				t.Errorf("code %d, err %q; want %d and %q", got.code, got.err, test.code, test.err)
			}
			if name == "no folder" && strings.Contains(got.err, "--skills") {
				t.Errorf("err %q names --skills", got.err)
			}
		})
	}
}

// An eval whose conversations fail says so once, and not for each assertion.
func TestEvalOfFailedTrials(t *testing.T) {
	script := func(satcheltest.Request) satcheltest.Response {
		return satcheltest.Response{Status: 500, Err: "out of order"}
	}
	got := converse(t, script, "", "eval", "--mode", "outcome", "--skills", evalSkills(t), "--executor", "local", "-n", "1")
	if want := "\n  pdf 7: no trial ran without an error\n\n"; got.code != 1 || !strings.Contains(got.out, want) || strings.Contains(got.out, "no verdict") {
		t.Errorf("code %d, no %q in %s", got.code, want, got.out)
	}
}
