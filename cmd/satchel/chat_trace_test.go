package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/satcheltest"
)

// tracedLine is a line of a trace, with the fields that tests look at.
type tracedLine struct {
	line.Head
	Schema, Digest       string
	Message              json.RawMessage
	Tools                json.RawMessage
	Model, Prompt        string
	Keep                 int
	Add                  []string
	Parts                line.Parts
	Text, Skill, By, ID  string
	Name, Decision, Rule string
	Lines                int
	PromptTokens         int                                    `json:"prompt_tokens"`
	CachedTokens         int                                    `json:"cached_tokens"`
	CompletionTokens     int                                    `json:"completion_tokens"`
	ToolCalls            []struct{ ID, Name, Arguments string } `json:"tool_calls"`
}

// readTrace reads the lines of a trace, and checks that they are numbered without gaps and ended.
func readTrace(t *testing.T, path string) (lines []tracedLine) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for one := range strings.Lines(string(text)) {
		var l tracedLine
		// Tools is a digest in a call, and a list elsewhere.
		if err := json.Unmarshal([]byte(one), &l); err != nil {
			t.Fatalf("%v in %s", err, one)
		}
		if l.Seq != len(lines)+1 || l.V != line.Version {
			t.Errorf("line %d has the number %d and the version %d", len(lines)+1, l.Seq, l.V)
		}
		lines = append(lines, l)
	}
	if len(lines) < 2 || lines[0].Event != line.EventTrace || lines[0].Schema != line.Schema || lines[len(lines)-1].Event != line.EventEnd {
		t.Fatalf("the trace does not begin and end as it should:\n%s", text)
	}
	return lines
}

// linesOf returns the lines of some events.
func linesOf(lines []tracedLine, events ...string) (some []tracedLine) {
	for _, l := range lines {
		if slices.Contains(events, l.Event) {
			some = append(some, l)
		}
	}
	return some
}

// tokensOf returns the tokens of the bodies of requests, as cache-report counts them.
func tokensOf(t *testing.T, requests []satcheltest.Request) (tokens []int) {
	t.Helper()
	renderer, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for _, r := range requests {
		log.Write(append(bytes.TrimSpace(r.Raw), '\n'))
	}
	for e, err := range measure.ReadLog(&log, "") {
		if err != nil {
			t.Fatal(err)
		}
		p, err := renderer.Render(e.Request)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, p.Size)
	}
	return tokens
}

// A trace of a chat has a call with the tokens of each request, the usage that the provider counted, and loads with their
// calls.
func TestChatTrace(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		got := converse(t, satcheltest.Plan(
			satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf", "references/forms.md"), satcheltest.Do("Read", map[string]any{"file_path": "é"})}, Answer: "one"},
			satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("xlsx")}, Answer: "zwei ☃"},
		), "", append(flags, "--skills", skills, "--trace", file, "--system", "You help.", "first", "second")...)
		if got.code != 0 || got.out != "one\nzwei ☃\n" || got.err != "" {
			t.Fatalf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
		lines := readTrace(t, file)
		calls, answers := linesOf(lines, line.EventCall), linesOf(lines, line.EventAnswer)
		want := tokensOf(t, got.requests)
		if len(calls) != len(want) || len(answers) != len(want) || len(want) != 5 {
			t.Fatalf("%d calls and %d answers for %d requests", len(calls), len(answers), len(want))
		}
		for i := range calls {
			if calls[i].Parts.Sum() != want[i] {
				t.Errorf("call %d has %d tokens in %+v, want the %d of the request", i+1, calls[i].Parts.Sum(), calls[i].Parts, want[i])
			}
			if calls[i].Call != i+1 || calls[i].Agent != calls[0].Agent || calls[i].Model != "scripted" {
				t.Errorf("call %d is %+v", i+1, calls[i])
			}
			if answers[i].Call != i+1 || answers[i].PromptTokens == 0 {
				t.Errorf("answer %d is %+v", i+1, answers[i])
			}
		}
		var turns, loads []string
		for _, l := range linesOf(lines, line.EventTurn) {
			turns = append(turns, l.Prompt)
		}
		for _, l := range linesOf(lines, line.EventLoaded) {
			loads = append(loads, l.Skill+" "+l.By)
		}
		if !slices.Equal(turns, []string{"first", "second"}) || !slices.Equal(loads, []string{"pdf model", "xlsx model"}) {
			t.Errorf("turns %q, loads %q", turns, loads)
		}
	})
}

// Forks and the agents of --sub-agent are in the trace of the chat.
func TestChatTraceOfOtherAgents(t *testing.T) {
	helperSkills := skillDir(t, map[string]string{"xlsx/SKILL.md": "---\nname: xlsx\ndescription: Reads sheets.\n---\nBODY OF XLSX\n"})
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		agent := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{
			satcheltest.Do("skill_load", map[string]any{"skill": "report"}), satcheltest.Do("helper", map[string]any{"request": "sum"})}, Answer: "done"})
		other := satcheltest.Plan(satcheltest.Turn{Answer: "42"})
		got := converse(t, func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("Reads PDF files.") {
				return agent(r)
			}
			return other(r)
		}, "", append(flags, "--skills", forkingSkills(t), "--fork", "declared", "--sub-agent", "helper="+helperSkills, "--trace", file, "go")...)
		if got.code != 0 || len(got.requests) != 5 {
			t.Fatalf("code %d, %d requests, err %q", got.code, len(got.requests), got.err)
		}
		tokens := tokensOf(t, got.requests)
		calls := linesOf(readTrace(t, file), line.EventCall)
		if len(calls) != len(tokens) {
			t.Fatalf("%d calls for %d requests", len(calls), len(tokens))
		}
		var names []string
		for i, c := range calls {
			name := ""
			if c.Agent != calls[0].Agent {
				name = strings.TrimSpace(c.Agent[strings.Index(c.Agent, "/")+1:] + " " + c.Fork)
			}
			names = append(names, name)
			if c.Parts.Sum() != tokens[i] || c.Model != "scripted" || c.Turn != 1 {
				t.Errorf("call %d is %+v, want %d tokens", i+1, c, tokens[i])
			}
		}
		if want := []string{"", "fork:report#1 report", "", "helper", ""}; !slices.Equal(names, want) {
			t.Errorf("the calls are of %q, want %q", names, want)
		}
	})
}

// What was given to --trace-redact, and with digests all texts, is nowhere in the trace.
func TestChatTraceTexts(t *testing.T) {
	skills := testSkills(t)
	for _, tc := range []struct {
		flags    []string
		has, not []string
	}{
		{nil, []string{"my secret 12345", "BODY OF PDF", "the answer"}, nil},
		{[]string{"--trace-redact", `\d{5}`, "--trace-redact", "(?i)body|x*"}, []string{"my secret [redacted]", "[redacted] OF PDF", "the answer"}, []string{"12345", "BODY OF"}},
		{[]string{"--trace-texts", "digests"}, []string{`"skill":"pdf"`, `"bytes":`}, []string{"secret", "BODY OF", "the answer"}},
		{[]string{"--trace-texts", "none"}, []string{`"skill":"pdf"`, `"keep":0,"add":[]`}, []string{"secret", "BODY OF", "the answer", `"bytes":`}},
	} {
		each(t, func(t *testing.T, flags ...string) {
			file := filepath.Join(t.TempDir(), "trace.jsonl")
			got := converse(t, satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "the answer"}), "",
				append(append(flags, "--skills", skills, "--trace", file), append(tc.flags, "my secret 12345")...)...)
			if got.code != 0 || got.err != "" {
				t.Fatalf("code %d, err %q", got.code, got.err)
			}
			readTrace(t, file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.has {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q: the trace lacks %q:\n%s", tc.flags, want, text)
				}
			}
			for _, unwanted := range tc.not {
				if strings.Contains(string(text), unwanted) {
					t.Errorf("%q: the trace has %q:\n%s", tc.flags, unwanted, text)
				}
			}
		})
	}
}

// A directory gets a file of each process, and a small file is replaced when it is full.
func TestChatTraceFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new") + string(filepath.Separator)
	for range 2 {
		if got := converse(t, satcheltest.Plan(satcheltest.Turn{Answer: "one"}), "", "chat", "--trace", dir, "hi"); got.code != 0 {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d files, %v, want 2", len(entries), err)
	}
	for _, e := range entries {
		readTrace(t, filepath.Join(dir, e.Name()))
	}

	file := filepath.Join(t.TempDir(), "trace.jsonl")
	if got := converse(t, satcheltest.Plan(satcheltest.Turn{Answer: "one"}, satcheltest.Turn{Answer: "two"}), "", "chat", "--trace", file, "--trace-size", "1000", "hi", "again"); got.code != 0 {
		t.Fatalf("code %d, err %q", got.code, got.err)
	}
	if _, err := os.Stat(file + ".1"); err != nil {
		t.Error(err)
	}
}

// A trace that cannot be written as the flags say is an error before anything is asked.
func TestTraceFlagsThatCannotWork(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	for _, command := range [][]string{{"chat"}, {"tool"}} {
		for _, tc := range []struct {
			flags []string
			err   string
		}{
			{[]string{"--trace", filepath.Join(file, "x", "y")}, "--trace: "},
			{[]string{"--trace", ""}, "--trace: the path is empty"},
			{[]string{"--trace", file, "--trace-redact", "("}, "--trace-redact: "},
			{[]string{"--trace", file, "--trace-redact", ""}, "--trace-redact is empty"},
			{[]string{"--trace", file, "--trace-size", "0"}, "--trace-size 0"},
			{[]string{"--trace", file, "--trace-texts", "some"}, "--trace-texts"},
			{[]string{"--trace-redact", "x"}, "need --trace"},
			{[]string{"--trace-texts", "digests"}, "need --trace"},
		} {
			got := converse(t, steps(), "", slices.Concat(command, tc.flags, []string{"skill_load"})...)
			if got.code != cli.ExitUsage || !strings.Contains(got.err, tc.err) || len(got.requests) > 0 {
				t.Errorf("%s %q: code %d, err %q", command, tc.flags, got.code, got.err)
			}
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was made")
	}
}

// A tool call has no model, so its lines have no call.
func TestToolTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	got := program(t, nil, "", "tool", "--skills", testSkills(t), "--trace", file, "skill_load", `{"skill":"pdf"}`)
	if got.code != 0 || got.err != "" {
		t.Fatalf("code %d, err %q", got.code, got.err)
	}
	lines := readTrace(t, file)
	loads := linesOf(lines, line.EventLoaded)
	if len(loads) != 1 || loads[0].Skill != "pdf" || loads[0].By != "model" || loads[0].ID != "call_1" || loads[0].Call != 0 {
		t.Errorf("the loads are %+v", loads)
	}
	if calls := linesOf(lines, line.EventCall, line.EventAnswer); len(calls) > 0 {
		t.Errorf("there are calls: %+v", calls)
	}
}

// forkingSkills are report, which asks to run as an agent of its own and has a script, and pdf.
func forkingSkills(t *testing.T) string {
	return skillDir(t, map[string]string{
		"report/SKILL.md":       "---\nname: report\ndescription: Writes reports.\ncontext: fork\n---\nBODY OF REPORT\n",
		"report/scripts/run.sh": "echo 42 rows\n",
		"pdf/SKILL.md":          "---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY OF PDF\n",
	})
}
