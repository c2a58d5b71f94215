package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/eval"
	"github.com/satchel-go/satchel/satcheltest"
)

// hiddenSkills are a skill that the model sees and one that it does not, each with a suite.
func hiddenSkills(t *testing.T) string {
	t.Helper()
	return skillDir(t, map[string]string{
		"pdf/SKILL.md":                   "---\nname: pdf\ndescription: Fills forms.\n---\nRead the form.\n",
		"pdf/evals/eval_queries.json":    `[{"query": "load", "should_trigger": true}]`,
		"deploy/SKILL.md":                "---\nname: deploy\ndescription: Deploys the service.\ndisable-model-invocation: true\n---\nSay ahoy.\n",
		"deploy/evals/eval_queries.json": `[{"query": "deploy the service", "should_trigger": true}, {"query": "what is a service?", "should_trigger": false}]`,
		"deploy/evals/evals.json":        `{"skill_name": "deploy", "evals": [{"id": 1, "prompt": "deploy it", "assertions": ["regex:ahoy"]}]}`,
	})
}

// A report says that the model does not see a skill, and why. No request is sent about it.
func TestEvalSaysWhyASkillIsHidden(t *testing.T) {
	skills := hiddenSkills(t)
	const why = "disable-model-invocation in SKILL.md"
	for _, mode := range []string{"offline", "trigger"} {
		dir := t.TempDir()
		junit, page := filepath.Join(dir, "j.xml"), filepath.Join(dir, "p.html")
		args := []string{"eval", "--mode", mode, "--skills", skills, "--executor", "local", "-n", "2", "--min-trigger", "0.5"}
		table := converse(t, triggering, "", append(args, "--junit", junit, "--html", page)...)
		if table.code != 1 || !strings.Contains(table.err, "satchel: deploy: ") || strings.Count(table.out, why) != 1 ||
			!strings.Contains(table.out, "\nThe model does not see these skills, and cannot load them:\n  deploy: "+why+"\n") || strings.Contains(table.out, "found first") {
			t.Errorf("%s: code %d, errors %s\n%s", mode, table.code, table.err, table.out)
		}
		for file, want := range map[string]string{junit: `<failure message="hidden from the model: ` + why + `">`, page: "hidden from the model: " + why} {
			if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: %v, no %q in %s", mode, err, want, filepath.Base(file))
			}
		}
		got := converse(t, triggering, "", append(args, "--json")...)
		report := reportOf(t, got)
		for _, q := range report.Queries {
			if isHidden := q.Skill == "deploy"; isHidden != (q.Hidden == why) || mode == "trigger" && q.Pass != (!isHidden || !q.ShouldTrigger) {
				t.Errorf("%s: %+v", mode, q)
			}
		}
		for _, s := range report.Skills { // nothing was sampled, so a rate of 0 is no estimate
			if mode == "trigger" && (*s.Trigger.Rate == 0) != (s.Trigger.Low == nil && s.Trigger.High == nil) {
				t.Errorf("%s: %+v", s.Skill, s.Trigger)
			}
		}
		if mode == "trigger" && (report.Requests != 4 || len(got.requests) != 4) {
			t.Errorf("%d requests, %d reported", len(got.requests), report.Requests)
		}
	}
}

// In mode outcome a skill that only users load is loaded as they do.
func TestEvalLoadsHiddenSkills(t *testing.T) {
	skills := hiddenSkills(t)
	script := func(r satcheltest.Request) satcheltest.Response {
		if r.Contains("Say ahoy.") {
			return satcheltest.Response{Text: "ahoy"}
		}
		return satcheltest.Response{Text: "No."}
	}
	for _, framework := range frameworks {
		args := []string{"eval", "--mode", "outcome", "--framework", framework, "--skills", skills, "--executor", "local", "-n", "2"}
		got := converse(t, script, "", append(args, "--json")...)
		e := reportOf(t, got).Evals[0]
		if got.code != 0 || *e.With.PassRate != 1 || *e.Without.PassRate != 0 || e.Hidden == "" || !strings.Contains(got.out, `"id": 1,`) && !strings.Contains(got.out, `"id":1,`) {
			t.Errorf("%s: code %d, errors %s, %s", framework, got.code, got.err, got.out)
		}
		table := converse(t, script, "", args...)
		if !strings.Contains(table.out, "Their trials begin with them loaded:\n  deploy: disable-model") {
			t.Errorf("%s: %s", framework, table.out)
		}
	}
}

// Nothing that the model can do shows it a suite. Its scripts and files are there for the checks.
func TestEvalSuitesAreNotSeen(t *testing.T) {
	const secret = "EXPECTED-ANSWER"
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md":                "---\nname: pdf\ndescription: Fills forms.\n---\nRun look.sh.\n",
		"pdf/notes.md":                "A note.",
		"pdf/scripts/look.sh":         "cd ..; find . ; grep -r EXPECTED . ; ls \"$WORK_DIR/inputs\"; exit 0\n",
		"pdf/evals/eval_queries.json": `[{"query": "look ` + secret + `-Q", "should_trigger": true}]`,
		"pdf/evals/notes.md":          secret,
		"pdf/evals/check.sh":          "grep -q looked \"$ANSWER_FILE\" && grep -q EXPECTED \"$SKILL_DIR/evals/notes.md\"\n",
		"pdf/evals/form.txt":          "name:\n",
		"pdf/evals/evals.json": `{"skill_name": "pdf", "evals": [{"id": 1, "prompt": "look", "expected_output": "` + secret + `", "files": ["evals/form.txt"],
			"assertions": ["script:evals/check.sh", "file:work/inputs/form.txt"]}]}`,
		"pdf/evals.json": `{"skill_name": "pdf", "evals": [{"id": 2, "prompt": "look too", "expected_output": "` + secret + `"}]}`,
	})
	script := satcheltest.Plan(satcheltest.Turn{Answer: "looked", Steps: []satcheltest.Step{
		satcheltest.Load("pdf", "evals/notes.md"),
		satcheltest.Do("skill_list_docs", map[string]any{"skill": "pdf"}),
		satcheltest.Do("skill_select_docs", map[string]any{"skill": "pdf", "docs": []string{"evals/notes.md", "evals/evals.json"}}),
		satcheltest.Do("skill_run", map[string]any{"skill": "pdf", "script": "scripts/look.sh"}),
	}})
	for _, mode := range []string{"trigger", "outcome"} {
		got := converse(t, func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("Fills forms.") {
				return script(r)
			}
			return satcheltest.Response{Text: "No skill."}
		}, "", "eval", "--mode", mode, "--skills", skills, "--executor", "local", "-n", "1", "--json")
		if got.code != 0 {
			t.Fatalf("%s: code %d, %s", mode, got.code, got.err)
		}
		hasRun, hasInput := false, false
		for _, r := range got.requests {
			for _, m := range r.Messages {
				text := strings.ReplaceAll(m.Text, secret+"-Q", "") // as the user writes
				hasRun, hasInput = hasRun || strings.Contains(text, "scripts/look.sh"), hasInput || strings.Contains(text, "form.txt")
				if strings.Contains(text, secret) || m.Role == "tool" && strings.Contains(text, "check.sh") {
					t.Errorf("%s: the model sees %s", mode, text)
				}
			}
		}
		if !hasRun || hasInput != (mode == "outcome") {
			t.Errorf("%s: run %v, input %v", mode, hasRun, hasInput)
		}
		if mode == "outcome" {
			e := reportOf(t, got).Evals
			i := slices.IndexFunc(e, func(e eval.Comparison) bool { return e.ID == "1" })
			if with := e[i].With; *with.PassRate != 1 || *e[i].Without.PassRate == 1 {
				t.Errorf("with %+v, without %+v", with, e[i].Without)
			}
		}
	}
}

// An error of the judge costs a verdict and no trial.
func TestEvalJudgeFails(t *testing.T) {
	skills := evalSkills(t)
	script := func(r satcheltest.Request) satcheltest.Response {
		if r.Model == "judge" {
			return satcheltest.Response{Status: 500, Err: "out of order"}
		}
		return doing(r)
	}
	got := converse(t, script, "", "eval", "--mode", "outcome", "--skills", skills, "--executor", "local", "-n", "1", "--judge", "judge", "--json")
	e := reportOf(t, got).Evals[0]
	last := e.With.Assertions[len(e.With.Assertions)-1]
	if got.code != 1 || e.With.Trials != 1 || e.With.Errors != 0 || *e.With.PassRate != 1 || last.Passed != nil || last.Errors != 1 || !strings.Contains(last.Evidence, "out of order") {
		t.Errorf("code %d, %s", got.code, got.out)
	}
	for _, want := range []string{"satchel: pdf: eval 7, trial 1, judge of assertion 7: ", "satchel: the judge has failed for 2 assertions\n"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("no %q in %s", want, got.err)
		}
	}
}

// A replay of a script that prints something else each time says what to do.
func TestEvalReplayOfAClock(t *testing.T) {
	skills, dir := evalSkills(t), t.TempDir()
	clock := "sed 's/name:/name: Ann/' \"$WORK_DIR/inputs/form.txt\" > \"$OUTPUT_DIR/form.txt\"\ndate +%s%N\n"
	if err := os.WriteFile(filepath.Join(skills, "pdf", "scripts", "fill.sh"), []byte(clock), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"eval", "--mode", "outcome", "--skills", skills, "--executor", "local", "-n", "1", "--json"}
	if got := converse(t, doing, "", append(args, "--record", dir)...); got.code != 0 {
		t.Fatalf("code %d, %s", got.code, got.err)
	}
	got := program(t, nil, "", append(args, "--replay", dir)...)
	if got.code != 1 || !strings.Contains(got.err, "\nThe result of a tool differs. Commands run in a replay too: ") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
	got = program(t, nil, "", append(args, "--system", "Another text.", "--replay", dir)...)
	if got.code != 1 || strings.Contains(got.err, "The result of a tool differs") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
}

func TestEvalSuiteOfStandardInput(t *testing.T) {
	skills := hiddenSkills(t)
	got := program(t, nil, "skill_name: pdf\nqueries: [{query: fill forms, should_trigger: true}]\n", "eval", "--skills", skills, "--suite", "-", "--json")
	if got.code != 0 {
		t.Fatalf("code %d, %s", got.code, got.err)
	}
	if report := reportOf(t, got); len(report.Queries) != 1 || report.Queries[0].Rank != 1 {
		t.Errorf("%s", got.out)
	}
	if got = program(t, nil, "", "eval", "--skills", skills, "--suite", "-"); got.code != 2 || !strings.Contains(got.err, "standard input: is empty") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
}

// The queries of eval init are sentences in other scripts, too.
func TestEvalInitInChinese(t *testing.T) {
	skills := skillDir(t, map[string]string{"forms/SKILL.md": "---\nname: forms\ndescription: 填写 PDF 表单。\n---\nText.\n"})
	if got := program(t, nil, "", "eval", "init", filepath.Join(skills, "forms")); got.code != 0 {
		t.Fatalf("code %d, errors %q", got.code, got.err)
	}
	text, err := os.ReadFile(filepath.Join(skills, "forms", "evals", "eval_queries.json"))
	if err != nil || !strings.Contains(string(text), "填写 PDF 表单. Where") {
		t.Errorf("error %v, queries %s", err, text)
	}
}

// eval init of a folder says what it has written and nothing else.
func TestEvalInitIsQuiet(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md":          "---\nname: pdf\ndescription: Fills forms.\n---\nText.\n",
		"pdf/template/SKILL.md": "No front matter.\n",
	})
	got := process(t, nil, "", "eval", "init", filepath.Join(skills, "pdf"))
	if got.code != 0 || got.err != "" || strings.Count(got.out, "wrote ") != 2 {
		t.Errorf("code %d, %q, errors %q", got.code, got.out, got.err)
	}
}

// The agent of trials is set as that of chat. A trial without a skill does not have it, preloaded or not.
func TestEvalSettingsOfTheAgent(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md":                "---\nname: pdf\ndescription: Fills in PDF forms.\n---\nSay ahoy.\n",
		"pdf/evals/eval_queries.json": `[{"query": "fill in the PDF form", "should_trigger": true}]`,
		"pdf/evals/evals.json":        `{"skill_name": "pdf", "evals": [{"id": "a", "prompt": "fill in the PDF form", "assertions": ["regex:ahoy"]}]}`,
		"xlsx/SKILL.md":               "---\nname: xlsx\ndescription: Reads sheets.\n---\nRead the sheet.\n",
	})
	script := func(r satcheltest.Request) satcheltest.Response {
		if r.Contains("Say ahoy.") {
			return satcheltest.Response{Text: "ahoy"}
		}
		return satcheltest.Response{Text: "No."}
	}
	for _, framework := range frameworks {
		for name, test := range map[string]struct {
			mode, has string // has is in every request with the skill
			args      []string
			with      float64
		}{
			"suggest":    {"trigger", "<skills_suggested>pdf</skills_suggested>", []string{"--activation", "suggest"}, 0},
			"load":       {"outcome", "Say ahoy.", []string{"--activation", "load"}, 1},
			"preload":    {"outcome", "Say ahoy.", []string{"--preload", "pdf"}, 1},
			"vocabulary": {"outcome", "skills_load", []string{"--vocabulary", "runtime-spec"}, 0},
		} {
			got := converse(t, script, "", append([]string{"eval", "--mode", test.mode, "--framework", framework, "--skills", skills, "--executor", "local", "-n", "1", "--json"}, test.args...)...)
			if got.code != 0 || len(got.requests) == 0 {
				t.Errorf("%s %s: code %d, %s", framework, name, got.code, got.err)
				continue
			}
			for _, e := range reportOf(t, got).Evals {
				if *e.With.PassRate != test.with || *e.Without.PassRate != 0 {
					t.Errorf("%s %s: with %g, without %g", framework, name, *e.With.PassRate, *e.Without.PassRate)
				}
			}
			for _, r := range got.requests {
				if r.Contains("Fills in PDF forms.") && !r.Contains(test.has) && !slices.ContainsFunc(r.Tools, func(t core.Tool) bool { return t.Name == test.has }) {
					t.Errorf("%s %s: no %s in %+v", framework, name, test.has, r.Messages)
				}
			}
		}
	}
	if got := converse(t, script, "", "eval", "--mode", "trigger", "--skills", skills, "--executor", "local", "--preload", "none"); got.code != 2 || !strings.Contains(got.err, "--preload") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
}
