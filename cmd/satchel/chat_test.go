package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// frameworks and ways are what every conversation is run through.
var (
	frameworks = []string{"eino", "langchaingo"}
	ways       = map[string][]string{"whole": nil, "streamed": {"--stream"}}
)

// outcome is what a run of the program left behind.
type outcome struct {
	code     int
	out, err string
	requests []satcheltest.Request
}

// converse runs the program against a scripted endpoint.
func converse(t *testing.T, script satcheltest.Script, stdin string, args ...string) outcome {
	t.Helper()
	return converseWith(t, nil, script, stdin, args...)
}

// converseWith has further variables in the environment.
func converseWith(t *testing.T, more map[string]string, script satcheltest.Script, stdin string, args ...string) outcome {
	t.Helper()
	return converseBy(t, program, more, script, stdin, args...)
}

// converseBy runs the program in another way.
func converseBy(t *testing.T, program runner, more map[string]string, script satcheltest.Script, stdin string, args ...string) outcome {
	t.Helper()
	server, err := satcheltest.Open(script)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	env := map[string]string{"OPENAI_BASE_URL": server.URL() + "/", "OPENAI_MODEL": "scripted"}
	maps.Copy(env, more)
	o := program(t, env, stdin, args...)
	o.requests = server.Requests()
	return o
}

// typedOnTerminal is, in the environment of a test, what a person types on the terminal
// of the process. Without it there is no terminal.
const typedOnTerminal = "typed on the terminal"

// testTerminal shows questions among the errors.
type testTerminal struct {
	io.Reader
	io.Writer
}

func (testTerminal) Close() error { return nil }

// runner runs the program with an environment.
type runner func(t *testing.T, env map[string]string, stdin string, args ...string) outcome

// program runs the program in this process.
func program(t *testing.T, env map[string]string, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	c := cli.Console{
		In: strings.NewReader(stdin), Out: &out, Err: &errs,
		Env: func(name string) string { return env[name] },
	}
	if text, ok := env[typedOnTerminal]; ok {
		c.TTY = func() (io.ReadWriteCloser, error) { return testTerminal{strings.NewReader(text), &errs}, nil }
	}
	code := run(t.Context(), args, c)
	return outcome{code: code, out: out.String(), err: errs.String()}
}

// skillDir writes skills: a path below the directory and its text each.
func skillDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// testSkills are three small skills.
func testSkills(t *testing.T) string {
	return skillDir(t, map[string]string{
		"pdf/SKILL.md":            "---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY OF PDF {{ x }} {y}\n",
		"pdf/references/forms.md": "DOC FORMS\n",
		"pdf/notes.txt":           "DOC NOTES\n",
		"xlsx/SKILL.md":           "---\nname: xlsx\ndescription: Reads sheets.\n---\nBODY OF XLSX\n",
		"技能/SKILL.md":             "---\nname: 技能\ndescription: 测试。\n---\nBODY OF 技能\n",
	})
}

// each runs a conversation through both frameworks, streamed and not.
func each(t *testing.T, test func(t *testing.T, flags ...string)) {
	for _, framework := range frameworks {
		for way, flags := range ways {
			t.Run(framework+"/"+way, func(t *testing.T) {
				test(t, append([]string{"chat", "--framework", framework}, flags...)...)
			})
		}
	}
}

func TestChatAnswers(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, satcheltest.Plan(
			satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Needs: []string{"BODY OF PDF"}, Answer: "one"},
			satcheltest.Turn{Answer: "two\n"},
		), "", append(flags, "--skills", skills, "first", "second")...)
		if got.code != 0 || got.out != "one\ntwo\n" || got.err != "" {
			t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
	})
}

func TestChatReadsLines(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, satcheltest.Plan(satcheltest.Turn{Answer: "one"}, satcheltest.Turn{Answer: "two"}), "first\n\n  \nsecond", flags...)
		if got.code != 0 || got.out != "one\ntwo\n" {
			t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
		if text := got.requests[1].Messages[2].Text; text != "second" {
			t.Errorf("last prompt = %q", text)
		}
	})
}

func TestChatPromptsPeople(t *testing.T) {
	server, err := satcheltest.Open(satcheltest.Plan(satcheltest.Turn{Answer: "one"}))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"chat"}, cli.Console{
		In: strings.NewReader("first\n"), Out: &out, Err: &errs, Terminal: true,
		Env: func(name string) string {
			return map[string]string{"OPENAI_BASE_URL": server.URL(), "OPENAI_MODEL": "m"}[name]
		},
	})
	if code != 0 || out.String() != "one\n" || errs.String() != "> > \n" {
		t.Errorf("code %d, out %q, err %q", code, out.String(), errs.String())
	}
}

func TestChatGoesOnAfterError(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		script := func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("bad") {
				return satcheltest.Response{Status: 500, Err: "the model is on fire"}
			}
			return satcheltest.Response{Text: "fine"}
		}
		got := converse(t, script, "", append(flags, "good", "bad", "again")...)
		if got.code != 1 || got.out != "fine\nfine\n" {
			t.Errorf("code %d, out %q", got.code, got.out)
		}
		if !strings.Contains(got.err, "satchel: turn 2: ") || !strings.Contains(got.err, "the model is on fire") {
			t.Errorf("err = %q", got.err)
		}
		last := got.requests[len(got.requests)-1]
		if last.Contains("bad") || last.Turn() != 2 {
			t.Errorf("a turn without an answer is sent again: %+v", last.Messages)
		}
	})
}

func TestChatNoticesCutStream(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, func(satcheltest.Request) satcheltest.Response {
			return satcheltest.Response{Text: "an answer that is cut in the middle of a word", Cut: true}
		}, "", append(flags, "hi")...)
		if got.code != 1 || !strings.Contains(got.err, "turn 1: ") {
			t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
	})
}

func TestChatMaxSteps(t *testing.T) {
	skills := testSkills(t)
	// The model needs three calls until it answers.
	script := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf"), satcheltest.Do("skill_list_docs", `{"skill":"pdf"}`)}, Answer: "done"})
	for steps, code := range map[string]int{"3": 0, "2": 1} {
		t.Run(steps, func(t *testing.T) {
			each(t, func(t *testing.T, flags ...string) {
				got := converse(t, script, "", append(flags, "--skills", skills, "--max-steps", steps, "hi")...)
				if got.code != code || len(got.requests) != 3-code {
					t.Errorf("code %d after %d calls, err %q", got.code, len(got.requests), got.err)
				}
				if code == 1 && !strings.Contains(got.err, "raise --max-steps") {
					t.Errorf("err = %q", got.err)
				}
			})
		})
	}
}

func TestChatEnvironment(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		args []string
		says string
	}{
		"no model":     {nil, nil, "set OPENAI_MODEL"},
		"no key":       {map[string]string{"OPENAI_MODEL": "m"}, nil, "set OPENAI_API_KEY"},
		"no directory": {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"--skills", "/does/not/exist"}, "/does/not/exist"},
		"no steps":     {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"--max-steps", "0"}, "--max-steps"},
		"bad mode":     {nil, []string{"--load-mode", "forever"}, "use turn, once, session or adaptive"},
		"bad prices":   {nil, []string{"--load-mode", "adaptive", "--prices", "cheap"}, "or read,write,ttl"},
		"idle prices":  {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"--load-mode", "turn", "--prices", "openai"}, "--prices needs --load-mode adaptive"},
		"bad budget":   {nil, []string{"--content-budget", "much"}, "use WARN,MAX"},
		"less budget":  {nil, []string{"--content-budget=1,-1"}, "use WARN,MAX"},
		"no executor":  {nil, []string{"--executor", "vm"}, `one of "docker","local","sandbox"`},
		"bad timeout":  {nil, []string{"--timeout", "soon"}, "use seconds, or a duration such as 2m"},
		"no host":      {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"--skills", ".", "--allow-host", "not/here"}, "not/here"},
		"no commands":  {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k", envAllowed: " , "}, nil, envAllowed + " is set and names no command"},
		"bad cap":      {map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, []string{"--max-loaded", "-1"}, "-1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := program(t, test.env, "", append(append([]string{"chat"}, test.args...), "hi")...)
			if got.code != cli.ExitUsage || got.out != "" || !strings.Contains(got.err, test.says) {
				t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
			}
		})
	}
}

func TestChatVerbose(t *testing.T) {
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n",
		"bad/SKILL.md": "---\nname: bad\n---\n",
	})
	script := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{{Text: "let me\x1b[31m see", Calls: []core.ToolCall{satcheltest.ToolCall("skill_load", `{"skill":"pdf"}`)}}}, Answer: "done"})
	var whole []string
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, script, "", append(flags, "-v", "--skills", skills, "hi")...)
		if got.code != 0 {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		for _, want := range []string{"skills  ", "bad/SKILL.md", "usage   ", `call    skill_load {"skill":"pdf"}`, "result  skill_load: loaded: pdf\n        [skill#1"} {
			if !strings.Contains(got.err, want) {
				t.Errorf("err lacks %q:\n%s", want, got.err)
			}
		}
		if strings.Contains(got.err, "\x1b") {
			t.Errorf("control sequences reach the terminal: %q", got.err)
		}
		if len(flags) == 3 {
			whole = append(whole, got.err)
			if !strings.Contains(got.err, "text    let me") {
				t.Errorf("err lacks the text beside the call:\n%s", got.err)
			}
		}
	})
	if len(whole) == 2 && whole[0] != whole[1] {
		t.Errorf("frameworks show different things:\n%s\n%s", whole[0], whole[1])
	}
}

func TestChatJSON(t *testing.T) {
	skills := testSkills(t)
	script := func(r satcheltest.Request) satcheltest.Response {
		if r.Turn() == 2 {
			return satcheltest.Response{Status: 500, Err: "on fire"}
		}
		return satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{{Text: "let me see", Calls: []core.ToolCall{
			satcheltest.ToolCall("skill_load", `{"skill":"pdf"}`), satcheltest.ToolCall("nope", "{}")}}}, Answer: "<done>"})(r)
	}
	kinds := map[string]string{
		"whole":    "turn usage text tool_call tool_call tool_result tool_result usage answer turn error",
		"streamed": "turn delta usage text tool_call tool_call tool_result tool_result delta usage answer turn error",
	}
	seen := map[string]string{}
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, script, "", append(flags, "--json", "--skills", skills, "hi", "more")...)
		var kept []string
		var last string
		var text strings.Builder
		for line := range strings.Lines(got.out) {
			var e map[string]any
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			kind, _ := e["event"].(string)
			if kind == "delta" {
				text.WriteString(e["text"].(string))
			}
			if kind != "delta" || last != "delta" {
				kept = append(kept, kind)
			}
			last = kind
			switch kind {
			case "answer":
				if e["text"] != "<done>" || e["turn"] != 1.0 || !strings.Contains(line, "<done>") {
					t.Errorf("answer = %s", line)
				}
			case "tool_result":
				if e["name"] == "nope" && !strings.Contains(e["result"].(string), "skill_load") {
					t.Errorf("result = %s", line)
				}
			case "error":
				if e["turn"] != 2.0 || !strings.Contains(e["error"].(string), "on fire") {
					t.Errorf("error = %s", line)
				}
			}
		}
		way := "whole"
		if len(flags) > 3 {
			way = "streamed"
			if text.String() != "let me see<done>" {
				t.Errorf("deltas = %q", text.String())
			}
		}
		if got := strings.Join(kept, " "); got != kinds[way] {
			t.Errorf("events %s, want %s", got, kinds[way])
		}
		if other, ok := seen[way]; !ok {
			seen[way] = dropErrors(got.out)
		} else if way == "whole" && other != dropErrors(got.out) {
			t.Errorf("frameworks report different events:\n%s\n%s", other, got.out)
		}
	})
}

// dropErrors removes the events whose text is a framework's.
func dropErrors(out string) string {
	var kept strings.Builder
	for line := range strings.Lines(out) {
		if !strings.Contains(line, `"event":"error"`) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
