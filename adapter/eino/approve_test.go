package eino_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// onDisk is a checkpoint store that another process can open.
type onDisk struct{ dir string }

func (d onDisk) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, err := os.ReadFile(filepath.Join(d.dir, id))
	return data, err == nil, nil
}

func (d onDisk) Set(_ context.Context, id string, data []byte) error {
	return os.WriteFile(filepath.Join(d.dir, id), data, 0o600)
}

// asking is an agent whose calls are asked about by interrupts. Everything that
// it keeps is in a directory.
type asking struct {
	t      *testing.T
	dir    string
	model  *scripted
	runner *adk.Runner
	ctx    context.Context
	ran    []string
	err    error
}

// newAsking opens the agent with what the model will still say.
func newAsking(t *testing.T, dir string, streaming bool, tools []tool.BaseTool, replies ...*schema.Message) *asking {
	t.Helper()
	a := &asking{t: t, dir: dir, model: script(replies...)}
	skills := filepath.Join(dir, "skills")
	writeSkill(t, skills, "free", "license: MIT", "echo 1", false)
	writeSkill(t, skills, "listed", "allowed-tools: Read", "echo 1", false)
	store, err := session.NewDirectory(filepath.Join(dir, "sessions"), session.WithSync(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	rt, err := satchel.New(satchel.WithSkillDirs(skills), satchel.WithStore(store), satchel.WithApprover(eino.Interrupt))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	for _, name := range []string{"search", "send"} {
		tools = append(tools, &hostTool{name: name, run: func(_ context.Context, args string) (string, error) {
			a.ran = append(a.ran, name+" "+args)
			return "ran " + name, nil
		}})
	}
	cfg := &adk.ChatModelAgentConfig{Model: a.model}
	cfg.ToolsConfig.Tools, cfg.ToolsConfig.ExecuteSequentially = tools, true
	install(t, cfg, rt)
	a.ctx = satchel.WithSession(t.Context(), "s")
	a.runner = adk.NewRunner(a.ctx, adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: streaming, CheckPointStore: onDisk{dir}})
	return a
}

// writeSkill writes a skill unless it is there.
func writeSkill(t *testing.T, dir, name, head, script string, again bool) {
	t.Helper()
	file := filepath.Join(dir, name, "SKILL.md")
	if _, err := os.Stat(file); err == nil && !again {
		return
	}
	if err := os.MkdirAll(filepath.Join(dir, name, "scripts"), 0o700); err != nil {
		t.Fatal(err)
	}
	for f, text := range map[string]string{file: "---\nname: " + name + "\ndescription: Does it.\n" + head + "\n---\nBODY\n", filepath.Join(dir, name, "scripts", "x.sh"): script} {
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (a *asking) query() map[string]core.Ask {
	a.t.Helper()
	return a.questions(drain(a.t, a.runner.Query(a.ctx, "q", adk.WithCheckPointID("c"))))
}

func (a *asking) resume(answers map[string]any) map[string]core.Ask {
	a.t.Helper()
	events, err := a.runner.ResumeWithParams(a.ctx, "c", &adk.ResumeParams{Targets: answers})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.questions(drain(a.t, events))
}

// questions are those that the run was interrupted by, by the interrupt's id.
func (a *asking) questions(events []*adk.AgentEvent) map[string]core.Ask {
	a.t.Helper()
	noErrors(a.t, events)
	asks := map[string]core.Ask{}
	last := events[len(events)-1]
	if last.Action == nil || last.Action.Interrupted == nil {
		return asks
	}
	for _, c := range last.Action.Interrupted.InterruptContexts {
		ask, ok := eino.Asked(c.Info)
		if !ok {
			a.t.Fatalf("the interrupt says %v", c.Info)
		}
		asks[c.ID] = ask
	}
	return asks
}

func (a *asking) ranOnly(want ...string) {
	a.t.Helper()
	if !slices.Equal(a.ran, want) {
		a.t.Errorf("ran %q, want %q", a.ran, want)
	}
}

func lastText(messages []*schema.Message) string { return text(messages[len(messages)-1]) }

// only returns the id of the one question.
func only(t *testing.T, asks map[string]core.Ask) string {
	t.Helper()
	if len(asks) != 1 {
		t.Fatalf("%d questions: %+v", len(asks), asks)
	}
	for id := range asks {
		return id
	}
	return ""
}

func TestInterruptAsks(t *testing.T) {
	for answer, ran := range map[any]bool{
		"allow": true, core.AnswerAllow: true, "session": true, core.AnswerSession: true, "deny": false, core.AnswerDeny: false, "?": false,
	} {
		t.Run(fmt.Sprintf("%T %v", answer, answer), func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				a := newAsking(t, t.TempDir(), streaming, nil, calling(call("1", "search", `{"q":1}`)), calling(call("1", "search", `{"q":2}`)), say("done"))
				asks := a.query()
				id := only(t, asks)
				if ask := asks[id]; ask.Call != (core.ToolCall{ID: "1", Name: "search", Arguments: `{"q":1}`}) || ask.Key.Session != "s" || ask.Lasting != "every call of search" {
					t.Errorf("the question is %+v", ask)
				}
				a.ranOnly()
				again := a.resume(map[string]any{id: answer})
				result := lastText(a.model.request(t, 1))
				if ran != (result == "ran search") || !ran && !strings.HasPrefix(result, "denied: this call of search was not approved") {
					t.Errorf("the result is %q", result)
				}
				if lasts := fmt.Sprint(answer) == "session"; lasts != (len(again) == 0) {
					t.Errorf("%v is followed by %d questions", answer, len(again))
				}
			})
		})
	}
}

// Every question of a message has an answer of its own; what was not answered
// waits on.
func TestInterruptsAreAnsweredOneByOne(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		a := newAsking(t, t.TempDir(), streaming, nil,
			calling(call("1", "search", "{}"), call("2", "skill_load", `{"skill":"free"}`), call("3", "send", "{}")), say("done"))
		asks := a.query()
		if len(asks) != 2 {
			t.Fatalf("questions are %+v", asks)
		}
		for id, ask := range asks {
			if ask.Call.Name == "send" {
				asks = a.resume(map[string]any{id: "deny"})
			}
		}
		id := only(t, asks)
		a.ranOnly()
		if more := a.resume(map[string]any{id: "allow"}); len(more) != 0 {
			t.Errorf("more questions: %+v", more)
		}
		a.ranOnly("search {}")
	})
}

// A tool that interrupts the run itself keeps its own address: neither takes the
// other's answer for its own.
func TestInterruptOfAToolThatInterrupts(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		a := newAsking(t, t.TempDir(), streaming, []tool.BaseTool{approval(true)}, calling(call("1", "approve", "{}")), say("done"))
		id := only(t, a.query())
		events, err := a.runner.ResumeWithParams(a.ctx, "c", &adk.ResumeParams{Targets: map[string]any{id: "allow"}})
		if err != nil {
			t.Fatal(err)
		}
		own := interruptOf(t, drain(t, events))
		if more := a.resume(map[string]any{own: "yes"}); len(more) != 0 {
			t.Errorf("more questions: %+v", more)
		}
		if result := lastText(a.model.request(t, 1)); result != "answered yes" {
			t.Errorf("the result is %q", result)
		}
	})
}

func TestInterruptInsideOfTheUnknownToolsHandler(t *testing.T) {
	rt := newRuntime(t, satchel.WithApprover(eino.Interrupt))
	m := script(calling(call("1", "ghost", "{}")), say("done"))
	cfg := &adk.ChatModelAgentConfig{Model: m}
	cfg.ToolsConfig.UnknownToolsHandler = func(context.Context, string, string) (string, error) { return "boo", nil }
	install(t, cfg, rt)
	ctx := satchel.WithSession(t.Context(), "s")
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg), CheckPointStore: &checkpoints{}})
	id := interruptOf(t, drain(t, runner.Query(ctx, "q", adk.WithCheckPointID("c"))))
	events, err := runner.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{id: "allow"}})
	if err != nil {
		t.Fatal(err)
	}
	noErrors(t, drain(t, events))
	if result := lastText(m.request(t, 1)); result != "boo" {
		t.Errorf("the result is %q", result)
	}
}

func TestAskedReadsNothingElse(t *testing.T) {
	for _, info := range []any{nil, 1, "", "may I?", "{}", `{"bound":""}`, `[]`} {
		if ask, ok := eino.Asked(info); ok {
			t.Errorf("%v is %+v", info, ask)
		}
	}
}

// episode is what one process does in TestApprovalInAnotherProcess.
type episode struct {
	Answer  string   `json:"answer"`  // "" asks; else the answer to all questions
	Edit    string   `json:"edit"`    // "script" or "list": what of the skill changes first
	Replies []string `json:"replies"` // "tool arguments; tool arguments" or "done"
}

// report is what came of it.
type report struct {
	Ran   []string
	Asked []string
	Last  []string // the results in the last request
}

const (
	episodeEnv = "SATCHEL_TEST_EPISODE"
	placeEnv   = "SATCHEL_TEST_PLACE"
)

// TestEpisode plays one process; it runs by itself only.
func TestEpisode(t *testing.T) {
	var e episode
	if os.Getenv(episodeEnv) == "" {
		return
	}
	if err := json.Unmarshal([]byte(os.Getenv(episodeEnv)), &e); err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv(placeEnv)
	switch e.Edit {
	case "script":
		writeSkill(t, filepath.Join(dir, "skills"), "free", "license: MIT", "echo 2", true)
	case "body":
		writeSkill(t, filepath.Join(dir, "skills"), "free", "license: BSD\n---\nOTHER", "echo 1", true)
	}
	var replies []*schema.Message
	for _, r := range e.Replies {
		if r == "done" {
			replies = append(replies, say("done"))
			continue
		}
		var calls []schema.ToolCall
		for i, c := range strings.Split(r, "; ") {
			name, args, _ := strings.Cut(c, " ")
			calls = append(calls, call(fmt.Sprint("call_", i), name, args))
		}
		replies = append(replies, calling(calls...))
	}
	a := newAsking(t, dir, false, nil, replies...)
	var asks map[string]core.Ask
	if e.Answer == "" {
		asks = a.query()
	} else {
		var ids []string
		data, err := os.ReadFile(filepath.Join(dir, "ids"))
		if err == nil {
			err = json.Unmarshal(data, &ids)
		}
		if err != nil {
			t.Fatal(err)
		}
		answers := map[string]any{}
		for _, id := range ids {
			answers[id] = e.Answer
		}
		asks = a.resume(answers)
	}
	out := report{Ran: a.ran}
	var ids []string
	for id, ask := range asks {
		ids, out.Asked = append(ids, id), append(out.Asked, ask.Call.Name)
	}
	slices.Sort(out.Asked)
	if n := a.model.calls(); n > 0 {
		for _, m := range a.model.request(t, n-1) {
			if m.Role == schema.Tool {
				line, _, _ := strings.Cut(text(m), "\n")
				out.Last = append(out.Last, line[:min(len(line), 20)])
			}
		}
	}
	for file, value := range map[string]any{"ids": ids, "report": out} {
		data, err := json.Marshal(value)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// process runs an episode in a process of its own.
func process(t *testing.T, dir string, e episode) report {
	t.Helper()
	spec, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestEpisode$", "-test.count=1")
	cmd.Env = append(os.Environ(), episodeEnv+"="+string(spec), placeEnv+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r report
	data, err := os.ReadFile(filepath.Join(dir, "report"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestApprovalInAnotherProcess(t *testing.T) {
	const load = `skill_load {"skill":"free"}`
	for name, steps := range map[string][]struct {
		episode
		want report
	}{
		"allow": {
			{episode{Replies: []string{load, `search {"q":1}`}}, report{Asked: []string{"search"}}},
			{episode{Answer: "allow", Replies: []string{`search {"q":2}`}}, report{Ran: []string{`search {"q":1}`}, Asked: []string{"search"}, Last: []string{"loaded: free", "ran search"}}},
			{episode{Answer: "deny", Replies: []string{"done"}}, report{Last: []string{"loaded: free", "ran search", "denied: this call of"}}},
		},
		"for the session": {
			{episode{Replies: []string{load, `search {"q":1}`}}, report{Asked: []string{"search"}}},
			{episode{Answer: "session", Replies: []string{`search {"q":2}`, "send {}"}}, report{Ran: []string{`search {"q":1}`, `search {"q":2}`}, Asked: []string{"send"}, Last: []string{"loaded: free", "ran search", "ran search"}}},
			{episode{Answer: "deny", Replies: []string{"search {}", "done"}}, report{Ran: []string{"search {}"}, Last: []string{"loaded: free", "ran search", "ran search", "denied: this call of", "ran search"}}},
		},
		"deny": {
			{episode{Replies: []string{load, "search {}"}}, report{Asked: []string{"search"}}},
			{episode{Answer: "deny", Replies: []string{"done"}}, report{Last: []string{"loaded: free", "denied: this call of"}}},
		},
		// The list of a load counts for the call after it, and not for the one before.
		"places in a message": {
			{episode{Replies: []string{`search {}; skill_load {"skill":"listed"}; send {}`}}, report{Asked: []string{"search"}}},
			{episode{Answer: "allow", Replies: []string{"done"}}, report{Ran: []string{"search {}"}, Last: []string{"ran search", "loaded: listed", "denied: send is not "}}},
		},
		"a list denies what was asked": {
			{episode{Replies: []string{`skill_load {"skill":"listed"}`, "search {}", "done"}}, report{Last: []string{"loaded: listed", "denied: search is no"}}},
		},
		// A script that was changed since the question is another question.
		"changed since the question": {
			{episode{Replies: []string{load, `skill_run {"skill":"free","command":"bash scripts/x.sh"}`}}, report{Asked: []string{"skill_run"}}},
			{episode{Edit: "script", Answer: "allow"}, report{Asked: []string{"skill_run"}}},
			{episode{Answer: "deny", Replies: []string{"done"}}, report{Last: []string{"loaded: free", "denied: this call of"}}},
		},
		// A grant for the session is for the skill as it was.
		"changed since the approval": {
			{episode{Replies: []string{load, "search {}"}}, report{Asked: []string{"search"}}},
			{episode{Answer: "session", Replies: []string{"done"}}, report{Ran: []string{"search {}"}, Last: []string{"loaded: free", "ran search"}}},
			{episode{Edit: "body", Replies: []string{load, "search {}"}}, report{Asked: []string{"search"}, Last: []string{"loaded: free (its te"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, s := range steps {
				got := process(t, dir, s.episode)
				if i == 0 && s.want.Last == nil { // what the model was sent before it asked is of no interest
					got.Last = nil
				}
				if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", s.want); a != b {
					t.Fatalf("process %d: %s\nwant %s", i+1, a, b)
				}
			}
		})
	}
}

var _ compose.CheckPointStore = onDisk{}
