package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/eval"
	"github.com/satchel-go/satchel/satcheltest"
)

// evalSkills are two skills; pdf has queries and an eval.
func evalSkills(t *testing.T) string {
	t.Helper()
	return skillDir(t, map[string]string{
		"pdf/SKILL.md":        "---\nname: pdf\ndescription: Fills forms.\n---\nRun fill.sh.\n",
		"pdf/scripts/fill.sh": "sed 's/name:/name: Ann/' \"$WORK_DIR/inputs/form.txt\" > \"$OUTPUT_DIR/form.txt\"\necho '{\"fields\": [{\"name\": \"Ann\"}]}' > \"$WORK_DIR/result.json\"\n",
		"pdf/evals/eval_queries.json": `[
			{"query": "load", "should_trigger": true},
			{"query": "late", "should_trigger": true},
			{"query": "other", "should_trigger": true},
			{"query": "chat", "should_trigger": false},
			{"query": "fail", "should_trigger": true}]`,
		"pdf/evals/evals.json": `{"skill_name": "pdf", "evals": [{"id": 7, "prompt": "fill it in", "expected_output": "a form", "files": ["evals/form.txt", "evals/more/form.txt"],
			"assertions": ["file:out/*.txt", "file:work/inputs/form_2.txt", "json:work/result.json#/fields/0/name=Ann", "regex:(?i)done", "exit:0", "script:evals/check.sh", "The name is in the form"]}]}`,
		"pdf/evals/form.txt":      "name:\n",
		"pdf/evals/more/form.txt": "street:\n",
		"pdf/evals/check.sh":      "grep -q 'name: Ann' out/form.txt && grep -q Done \"$ANSWER_FILE\"\n",
		"xlsx/SKILL.md":           "---\nname: xlsx\ndescription: Reads sheets.\n---\nRead the sheet.\n",
	})
}

// triggering answers the queries of evalSkills.
func triggering(r satcheltest.Request) satcheltest.Response {
	usage := &core.Usage{Prompt: 100, Cached: 50, Completion: 10}
	asked := r.Messages[0].Text
	if r.Messages[0].Role == "system" {
		asked = r.Messages[1].Text
	}
	results := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			results++
		}
	}
	call := func(c core.ToolCall) satcheltest.Response {
		return satcheltest.Response{Calls: []core.ToolCall{c}, Usage: usage}
	}
	load := func(skill string) satcheltest.Response {
		return call(satcheltest.ToolCall("skill_load", map[string]any{"skill": skill}))
	}
	switch {
	case strings.HasSuffix(asked, "load") && results == 0:
		return load("pdf")
	case strings.HasSuffix(asked, "late") && results == 0:
		return call(satcheltest.ToolCall("skill_load", map[string]any{"skill": "nothing"}))
	case strings.HasSuffix(asked, "late") && results == 1:
		return load("pdf")
	case strings.HasSuffix(asked, "other") && results == 0:
		return load("xlsx")
	case strings.HasSuffix(asked, "fail"):
		return satcheltest.Response{Status: 500, Err: "out of order"}
	}
	return satcheltest.Response{Text: "Done.", Usage: usage}
}

func reportOf(t *testing.T, o outcome) *eval.Report {
	t.Helper()
	report := new(eval.Report)
	if err := json.Unmarshal([]byte(o.out), report); err != nil {
		t.Fatalf("%v in %s; errors %s", err, o.out, o.err)
	}
	return report
}

func TestEvalTrigger(t *testing.T) {
	skills := evalSkills(t)
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			o := converse(t, triggering, "", "eval", "--mode", "trigger", "--framework", framework, "--system", "You help.", "--skills", skills, "--executor", "local", "-j", "3", "-n", "2", "--json")
			if o.code != 1 || !strings.Contains(o.err, `satchel: pdf: "fail", trial `) || !strings.Contains(o.err, "out of order") {
				t.Errorf("code %d, errors %s: a failed trial is exit code 1", o.code, o.err)
			}
			report := reportOf(t, o)
			var got []string
			for _, q := range report.Queries {
				rate := "null"
				if q.Rate != nil {
					rate = fmt.Sprint(*q.Rate)
				}
				got = append(got, fmt.Sprintf("%s %d/%d errors %d rate %s pass %v %v", q.Query, q.Triggered, q.Runs, q.Errors, rate, q.Pass, q.Loaded))
			}
			want := []string{
				"load 2/2 errors 0 rate 1 pass true map[pdf:2]",
				"late 2/2 errors 0 rate 1 pass true map[pdf:2]",
				"other 0/2 errors 0 rate 0 pass false map[xlsx:2]",
				"chat 0/2 errors 0 rate 0 pass true map[]",
				"fail 0/2 errors 2 rate null pass false map[]",
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if report.Requests != len(o.requests) || report.Requests != 2*(2+3+2+1+1) || report.PromptTokens != 1600 || report.CachedTokens != 800 || report.CompletionTokens != 160 {
				t.Errorf("spent %+v of %d requests", report.Spent, len(o.requests))
			}
			for _, r := range o.requests {
				if r.Messages[0].Role != "system" || !strings.HasPrefix(r.Messages[0].Text, "You help.") || !r.Contains("Reads sheets.") {
					t.Fatalf("request %+v: want the system text and all skills", r.Messages)
				}
			}
		})
	}
}

// doing fills the form when the skill is there, and judges.
func doing(r satcheltest.Request) satcheltest.Response {
	if len(r.Tools) == 0 && r.Contains(`"property"`) {
		if !r.Contains("name: Ann") {
			return satcheltest.Response{Text: `{"pass": true, "quote": "name: Ann"}`} // invented
		}
		return satcheltest.Response{Text: `{"pass": true, "quote": "name: Ann"}`}
	}
	turn := satcheltest.Turn{Answer: "Done."}
	if r.Contains("Fills forms.") {
		turn.Steps = []satcheltest.Step{satcheltest.Load("pdf"), satcheltest.Do("skill_run", map[string]any{"skill": "pdf", "script": "scripts/fill.sh"})}
	}
	return satcheltest.Plan(turn)(r)
}

func TestEvalOutcome(t *testing.T) {
	skills := evalSkills(t)
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			o := converse(t, doing, "", "eval", "--mode", "outcome", "--framework", framework, "--skills", skills, "--executor", "local", "-j", "2", "-n", "2", "--judge", "judge", "--json")
			if o.code != 0 {
				t.Errorf("code %d, errors %s", o.code, o.err)
			}
			e := reportOf(t, o).Evals[0]
			if e.Skill != "pdf" || e.ID != "7" || e.With.PassRate == nil || *e.With.PassRate != 1 || *e.Without.PassRate >= 0.5 || e.Difference.Tokens == nil || *e.Difference.Tokens <= 0 || e.With.Cost <= 0 {
				t.Errorf("%+v", e)
			}
			for i, a := range e.With.Assertions {
				without := e.Without.Assertions[i]
				if *a.Passed != 2 || a.Evidence == "" || (*without.Passed > 0) != (a.Assertion == "regex:(?i)done" || strings.HasPrefix(a.Assertion, "file:work/inputs")) {
					t.Errorf("%s: with %d (%s), without %d (%s)", a.Assertion, *a.Passed, a.Evidence, *without.Passed, without.Evidence)
				}
			}
			for _, r := range o.requests {
				if r.Model == "judge" && len(r.Tools) > 0 {
					t.Error("the judge has tools")
				}
			}
		})
	}
}

func TestEvalCassettes(t *testing.T) {
	skills := evalSkills(t)
	for _, mode := range []string{"trigger", "outcome"} {
		for _, framework := range frameworks {
			t.Run(mode+"/"+framework, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "tapes")
				args := []string{"eval", "--mode", mode, "--framework", framework, "--skills", skills, "--executor", "local", "-j", "4", "-n", "2", "--judge", "judge", "--json"}
				script := func(r satcheltest.Request) satcheltest.Response {
					if mode == "trigger" {
						return triggering(r)
					}
					return doing(r)
				}
				key := map[string]string{"OPENAI_API_KEY": "sk-very-secret-key"}
				recorded := converseWith(t, key, script, "", append(args, "--record", dir)...)
				replayed := program(t, nil, "", append(args, "--replay", dir)...)
				if replayed.code != recorded.code {
					t.Fatalf("code %d, want %d; %s", replayed.code, recorded.code, replayed.err)
				}
				was, is := reportOf(t, recorded), reportOf(t, replayed)
				for i := range was.Evals { // a replay takes less time
					for _, e := range []*eval.Comparison{&was.Evals[i], &is.Evals[i]} {
						e.With.MS, e.Without.MS, e.Difference.MS = 0, 0, nil
					}
				}
				a, _ := json.Marshal(was)
				b, _ := json.Marshal(is)
				if string(a) != string(b) {
					t.Errorf("replayed\n%s\nrecorded\n%s", b, a)
				}
				differs := program(t, nil, "", append(args, "--system", "Another system text.", "--replay", dir)...)
				if differs.code != 1 || !strings.Contains(differs.err, "\n- recorded\n+ sent\n") || !strings.Contains(differs.err, "+ messages[0].content: Another system text.") {
					t.Errorf("code %d, errors %s", differs.code, differs.err)
				}
				for _, name := range files(t, dir) {
					data, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil || strings.Contains(string(data), "sk-very") || strings.Contains(string(data), "Authorization") {
						t.Errorf("%s holds the key, or %v", name, err)
					}
				}
				if err := os.WriteFile(filepath.Join(dir, files(t, dir)[0]), []byte("{"), 0o600); err != nil {
					t.Fatal(err)
				}
				broken := program(t, nil, "", append(args, "--replay", dir)...)
				if broken.code != 1 || !strings.Contains(broken.err, files(t, dir)[0]) {
					t.Errorf("code %d, errors %s", broken.code, broken.err)
				}
			})
		}
	}
}

// A replay fails where skills or queries have changed, with what changed.
func TestEvalReplayNamesTheChange(t *testing.T) {
	skills, dir := evalSkills(t), t.TempDir()
	args := []string{"eval", "--mode", "trigger", "--skills", skills, "--executor", "local", "-n", "1", "--json"}
	converse(t, triggering, "", append(args, "--record", dir)...)
	change := func(file, old, fresh string) {
		t.Helper()
		path := filepath.Join(skills, file)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.Replace(string(text), old, fresh, 1)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change("pdf/evals/eval_queries.json", `"chat"`, `"chatter"`)
	o := program(t, nil, "", append(args, "--replay", dir)...)
	if report := reportOf(t, o); o.code != 1 || report.Errors() != 2 || !strings.Contains(o.err, "\n- recorded\n+ sent\n- messages[1].content: chat\n+ messages[1].content: chatter\n") {
		t.Errorf("code %d, %d errors (one is recorded), %s", o.code, report.Errors(), o.err)
	}
	o = program(t, nil, "", append(args, "-n", "2", "--replay", dir)...)
	if want := "-2.json was not recorded; the nearest is "; o.code != 1 || !strings.Contains(o.err, want) || !strings.Contains(o.err, "-1.json, with the same request: record as many trials as are replayed\n") {
		t.Errorf("code %d, no %q in %s", o.code, want, o.err)
	}
	change("pdf/SKILL.md", "Fills forms.", "Fills in forms.")
	o = program(t, nil, "", append(args, "--replay", dir)...)
	if report := reportOf(t, o); o.code != 1 || report.Errors() != 5 || !strings.Contains(o.err, "Fills in forms.") {
		t.Errorf("code %d, %d errors, %s", o.code, report.Errors(), o.err)
	}
}

// The suites and the agent have catalogs of their own. What is wrong with a skill is printed once.
func TestEvalPrintsFindingsOnce(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md":          "---\nname: pdf\ndescription: Fills forms.\ndisable-model-invocation: true\n---\nText.\n",
		"pdf/eval_queries.json": `[{"query": "fill", "should_trigger": true}]`,
		"pdf/evals.json":        `{"evals": [{"id": 1, "prompt": "fill", "assertions": ["regex:."]}], "skill_name": "pdf"}`,
		"bad/SKILL.md":          "---\nname: bad\n---\nText.\n",
	})
	for _, mode := range []string{"offline", "trigger", "outcome"} {
		o := converse(t, triggering, "", "eval", "--mode", mode, "--skills", skills, "--executor", "local", "-n", "1", "--json")
		for _, want := range []string{"description is missing", "the model sees no skill"} {
			if n := strings.Count(o.err, want); n != 1 {
				t.Errorf("%s: %d lines with %q in %s", mode, n, want, o.err)
			}
		}
	}
}

// A key in a request is recorded as [key]. A replay that knows the key leaves it out too.
func TestEvalReplayOfAKeyInARequest(t *testing.T) {
	skills, dir := evalSkills(t), t.TempDir()
	key := map[string]string{"OPENAI_API_KEY": "sk-very-secret-key"}
	args := []string{"eval", "--mode", "trigger", "--skills", skills, "--executor", "local", "-n", "1", "--json"}
	withKey := append(slices.Clone(args), "--system", "The key is sk-very-secret-key.")
	recorded := converseWith(t, key, triggering, "", append(withKey, "--record", dir)...)
	replayed := program(t, key, "", append(withKey, "--replay", dir)...)
	if replayed.code != recorded.code || replayed.out != recorded.out {
		t.Errorf("code %d, want %d; %s", replayed.code, recorded.code, replayed.err)
	}
	differs := program(t, key, "", append(args, "--system", "Another key is sk-very-secret-key.", "--replay", dir)...)
	if want := "+ messages[0].content: Another key is [key].\n"; differs.code != 1 || !strings.Contains(differs.err, want) || strings.Contains(differs.err, "sk-very") {
		t.Errorf("code %d, no %q, or the key, in %s", differs.code, want, differs.err)
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatalf("files %v, %v", entries, err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestEvalNeedsAModel(t *testing.T) {
	skills := evalSkills(t)
	for name, test := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"model":    {map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1"}, nil, "OPENAI_MODEL"},
		"endpoint": {map[string]string{"OPENAI_MODEL": "m"}, nil, "OPENAI_API_KEY"},
		"replay":   {nil, []string{"--replay", filepath.Join(t.TempDir(), "none")}, "--replay"},
		"empty":    {nil, []string{"--replay", t.TempDir()}, "has no cassettes: --record DIR"},
		"a pipe":   {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"--state", os.DevNull}, "is a device: want a regular file"},
		"a skill":  {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"--state", filepath.Join(skills, "pdf", "SKILL.md")}, "SKILL.md: has no line of a trial"},
		"both":     {nil, []string{"--replay", t.TempDir(), "--record", t.TempDir()}, "--record"},
	} {
		o := program(t, test.env, "", append([]string{"eval", "--mode", "trigger", "--skills", skills, "--executor", "local"}, test.args...)...)
		if o.code != 2 || !strings.Contains(o.err, test.want) || o.out != "" {
			t.Errorf("%s: code %d, %q, errors %s", name, o.code, o.out, o.err)
		}
	}
}

func TestEvalMaxCostAndState(t *testing.T) {
	skills, state := evalSkills(t), filepath.Join(t.TempDir(), "state")
	args := []string{"eval", "--mode", "trigger", "--skills", skills, "--executor", "local", "-n", "1", "--json", "--state", state, "--prices", "0,1,5m"}
	var mu sync.Mutex
	asked := 0
	script := func(r satcheltest.Request) satcheltest.Response {
		mu.Lock()
		defer mu.Unlock()
		asked++
		if strings.Contains(r.Messages[len(r.Messages)-1].Text, "fail") {
			return satcheltest.Response{Text: "Done.", Usage: &core.Usage{Prompt: 100}}
		}
		return triggering(r)
	}
	o := converse(t, script, "", append(args, "--max-cost", "120")...) // a request costs 50
	report := reportOf(t, o)
	if o.code != 1 || report.Stopped != "max-cost" || report.Requests != 5 || report.Queries[2].Runs != 0 {
		t.Errorf("code %d, %s, errors %s", o.code, o.out, o.err)
	}
	asked = 0
	o = converse(t, script, "", args...)
	report = reportOf(t, o)
	if o.code != 0 || asked != 4 || report.Requests != 9 || report.Queries[0].Triggered != 1 || report.Queries[4].Runs != 1 || report.Stopped != "" {
		t.Errorf("code %d, %d requests, %s, errors %s", o.code, asked, o.out, o.err)
	}
}
