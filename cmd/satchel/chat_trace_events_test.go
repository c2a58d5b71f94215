package main

import (
	"encoding/json"
	"fmt"
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

// A conversation that other processes continue has one name for each call, and its turns and calls add up. Its texts
// keep the calls that have loaded them, and the skills of a fork leave before the agent goes on.
func TestTraceOfResumedChats(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md":   "---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY OF PDF\n",
		"guard/SKILL.md": "---\nname: guard\ndescription: Guards things.\n---\nBODY OF GUARD\n",
		"rep/SKILL.md":   "---\nname: rep\ndescription: Reports.\ncontext: fork\n---\nBODY OF REP\n",
	})
	again := satcheltest.Do("skill_load", map[string]any{"skill": "pdf"}) // also while its text is in view
	turns := []satcheltest.Turn{
		{Steps: []satcheltest.Step{again}, Answer: "one"},
		{Steps: []satcheltest.Step{satcheltest.Load("rep")}, Answer: "two"},
		{Steps: []satcheltest.Step{satcheltest.Load("rep"), again, again}, Answer: "three"},
		{Answer: "four"},
	}
	each(t, func(t *testing.T, flags ...string) {
		store, dir := t.TempDir(), t.TempDir()+"/"
		script := func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("Carry out the skill") { // the fork
				return satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("guard")}, Answer: "reported"})(r)
			}
			return satcheltest.Plan(turns...)(r)
		}
		for _, prompts := range [][]string{{"first", "second"}, {"third"}, {"fourth"}} {
			args := append(append(flags, "--skills", skills, "--store", store, "--resume", "talk", "--trace", dir, "--fork", "declared", "--load-mode", "session"), prompts...)
			if got := converse(t, script, "", args...); got.code != 0 {
				t.Fatalf("code %d: %s", got.code, got.err)
			}
		}
		files, err := filepath.Glob(dir + "*.jsonl")
		if err != nil || len(files) != 3 {
			t.Fatalf("files %q, %v", files, err)
		}
		var got []string
		sizes := map[string]int{}
		for _, file := range files { // their names are in the order of the processes, or of the same second
			got = append(got, resumedLines(t, file, sizes)...)
		}
		slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
		fork := func(turn, n string) []string {
			return []string{
				turn + " fork:rep#" + n + "/1 rep by 1", turn + " loaded rep fork:rep#" + n + "/1", turn + " loaded guard fork:rep#" + n + "/1",
				turn + " fork:rep#" + n + "/2 rep by 1 guard by 1", turn + " unloaded rep fork:rep#" + n + "/2", turn + " unloaded guard fork:rep#" + n + "/2",
			}
		}
		want := slices.Concat([]string{"1 1", "1 loaded pdf 1", "1 2 pdf by 1", "2 3 pdf by 1"}, fork("2", "1"), []string{"2 4 pdf by 1", "3 5 pdf by 1"}, fork("3", "2"),
			[]string{"3 6 pdf by 1", "3 loaded pdf 6", "3 7 pdf by 1", "3 loaded pdf 7", "3 8 pdf by 1", "4 9 pdf by 1"})
		chattest.Same(t, "lines", got, want...)
		shown := program(t, nil, "", "trace", "--json", dir)
		var totals struct {
			Calls, Turns, Sessions int
			Skills                 []struct {
				Skill  string
				Loaded int
			}
		}
		if err := json.Unmarshal([]byte(shown.out), &totals); err != nil || totals.Calls != 13 || totals.Turns != 4 || totals.Sessions != 1 {
			t.Errorf("%v, code %d: %s%s", err, shown.code, shown.out, shown.err)
		}
		for _, s := range totals.Skills {
			if want := map[string]int{"pdf": 3, "rep": 2, "guard": 2}[s.Skill]; s.Loaded != want {
				t.Errorf("%s has %d loads, want %d", s.Skill, s.Loaded, want)
			}
		}
		for name, tokens := range sizes {
			if tokens == 0 || strings.HasPrefix(name, "pdf") && tokens != sizes["pdf 1"] {
				t.Errorf("the load %s has %d tokens, those of all loads are %v", name, tokens, sizes)
			}
		}
	})
}

// resumedLines returns the calls of a trace with the calls that have loaded their texts, and its loads. It sets the
// tokens of the loads.
func resumedLines(t *testing.T, file string, sizes map[string]int) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for one := range strings.Lines(string(text)) {
		var l struct {
			Event, Session, Agent, Skill string
			Turn, Call, Tokens           int
			Texts                        []line.Text
		}
		_ = json.Unmarshal([]byte(one), &l) // a list of tools has another form
		name := fmt.Sprint(l.Call)
		if _, fork, ok := strings.Cut(l.Agent, "/"); ok {
			name = fork + "/" + name
		}
		switch l.Event {
		case line.EventCall:
			for _, text := range l.Texts {
				name += fmt.Sprintf(" %s by %d", text.Skill, text.LoadedBy)
			}
			all = append(all, fmt.Sprintf("%d %s", l.Turn, name))
		case line.EventLoaded, line.EventUnloaded:
			all = append(all, fmt.Sprintf("%d %s %s %s", l.Turn, l.Event, l.Skill, name))
			if l.Event == line.EventLoaded {
				sizes[l.Skill+" "+name] = l.Tokens
			}
		}
	}
	return all
}
