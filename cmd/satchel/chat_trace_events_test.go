package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/satcheltest"
)

// traceEventLines returns the lines of a trace that are about skills, with the fields that are the same in each
// run.
func traceEventLines(t *testing.T, path string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events := []string{
		line.EventOffered, line.EventSuggested, line.EventLoaded, line.EventUnloaded, line.EventCleared, line.EventRun, line.EventUsed,
		line.EventNotFound, line.EventDecision, line.EventApproval,
	}
	for one := range strings.Lines(string(text)) {
		var l struct {
			Event, Agent, Fork, Skill, Doc, By, ID, Why, How, Name, Decision, Rule, Command string
			Call                                                                            int
			ExitCode                                                                        *int `json:"exit_code"`
			Skills, Near                                                                    []string
			Files                                                                           []line.File
		}
		if json.Unmarshal([]byte(one), &l) != nil || !slices.Contains(events, l.Event) || l.Decision == "allowed" && l.Rule == "always callable" {
			continue
		}
		show := []string{l.Event}
		for _, value := range []string{l.Fork, l.Skill, l.Doc, l.By, l.ID, l.Why, l.How, l.Name, l.Decision, l.Rule, l.Command, strings.Join(l.Skills, ","), strings.Join(l.Near, ",")} {
			if value != "" {
				show = append(show, value)
			}
		}
		for _, f := range l.Files {
			show = append(show, f.Path)
		}
		if l.ExitCode != nil && *l.ExitCode == 3 {
			show = append(show, "exit 3")
		}
		if l.Call == 0 {
			show = append(show, "without a call")
		}
		lines = append(lines, strings.Join(show, " "))
	}
	return lines
}

// A trace says what skills do, the same through both frameworks: what is offered, suggested, loaded, used, denied and cleared,
// also in a fork.
func TestChatTraceOfSkills(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	put("pdf/SKILL.md", "---\nname: pdf\ndescription: Fill in PDF forms and read their fields.\n---\nDo pdf.\n")
	put("pdf/forms.md", "FORMS\n")
	put("pdf/scripts/go.sh", "#!/bin/sh\necho hi > $OUTPUT_DIR/a.txt; exit 3\n")
	put("guard/SKILL.md", "---\nname: guard\ndescription: Guards things.\nallowed-tools: Read\n---\nGuard.\n")
	put("rep/SKILL.md", "---\nname: rep\ndescription: Reports.\ncontext: fork\n---\nReport.\n")
	run := map[string]any{"skill": "pdf", "script": "scripts/go.sh", "output_files": []string{"out/*"}}
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		got := converse(t, satcheltest.Plan(
			satcheltest.Turn{Steps: []satcheltest.Step{
				satcheltest.Load("pfd"), satcheltest.Load("pdf"), satcheltest.Do("skill_run", run), satcheltest.Do("skill_read", map[string]any{"skill": "pdf", "path": "forms.md"}),
			}, Answer: "by pdf"},
			satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("guard"), satcheltest.Do("skill_run", map[string]any{"skill": "guard", "command": "ls"}), satcheltest.Do("skill_unload", map[string]any{"skills": []string{"guard"}})}, Answer: "two"},
		), "", append(flags, "--skills", dir, "--trace", file, "--activation", "suggest", "fill in the pdf forms", "second")...)
		if got.code != 0 {
			t.Fatalf("code %d: %s", got.code, got.err)
		}
		chattest.Same(t, "lines", traceEventLines(t, file),
			"offered guard,pdf,rep", "suggested pdf", "not_found call_1_1 pfd pdf", "loaded pdf model call_2_1", "decision call_3_1 skill_run allowed no rule",
			"run pdf call_3_1 scripts/go.sh out/a.txt exit 3", "used pdf call_3_1 run", "used pdf call_4_1 doc", "used pdf named",
			"unloaded pdf turn", "loaded guard model call_6_1", "decision guard call_7_1 skill_run denied allowed-tools of guard",
			"unloaded guard unloaded", "cleared guard unload")
	})
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		got := converse(t, satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("rep")}, Answer: "by rep"}),
			"", append(flags, "--skills", dir, "--trace", file, "--fork", "declared", "first")...)
		if got.code != 0 {
			t.Fatalf("code %d: %s", got.code, got.err)
		}
		lines := traceEventLines(t, file)
		if !slices.Contains(lines, "loaded rep rep model call_1_1") {
			t.Errorf("the load of the fork is not there, or without its call:\n%s", strings.Join(lines, "\n"))
		}
	})
}
