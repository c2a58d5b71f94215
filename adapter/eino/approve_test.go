package eino_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// diskCheckpoints is a checkpoint store that another process can open.
type diskCheckpoints struct{ dir string }

func (d diskCheckpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, err := os.ReadFile(filepath.Join(d.dir, id))
	return data, err == nil, nil
}

func (d diskCheckpoints) Set(_ context.Context, id string, data []byte) error {
	return os.WriteFile(filepath.Join(d.dir, id), data, 0o600)
}

// askingAgent is an agent whose calls interrupt the run with questions. It stores everything in a
// directory.
type askingAgent struct {
	t      *testing.T
	dir    string
	model  *scripted
	runner *adk.Runner
	ctx    context.Context
	ran    []string
	err    error
	// numbers are those of the model calls, and of those that approvals belong to: AGENT TURN/CALL.
	numbers []string
}

// Event implements satchel.Tracer.
func (a *askingAgent) Event(_ context.Context, e core.Event) {
	if e.Kind == core.ToolApproval {
		a.numbers = append(a.numbers, fmt.Sprintf("approval in %s %d/%d", e.Key.Agent, e.Turn, e.ModelCall))
	}
}

// Request implements satchel.Tracer.
func (a *askingAgent) Request(_ context.Context, r core.ModelRequest) {
	a.numbers = append(a.numbers, fmt.Sprintf("%s %d/%d", r.Key.Agent, r.View.Turn, r.ModelCall))
}

// Answer implements satchel.Tracer.
func (a *askingAgent) Answer(context.Context, core.ModelAnswer) {}

// newAsking opens the agent with what the model will still say.
func newAsking(t *testing.T, dir string, streaming bool, tools []tool.BaseTool, replies ...*schema.Message) *askingAgent {
	t.Helper()
	a := &askingAgent{t: t, dir: dir, model: script(replies...)}
	skills := filepath.Join(dir, "skills")
	writeSkill(t, skills, "free", "license: MIT", "echo 1", false)
	writeSkill(t, skills, "listed", "allowed-tools: Read", "echo 1", false)
	writeSkill(t, skills, "forked", "context: fork", "echo 1", false)
	store, err := session.OpenDirectory(filepath.Join(dir, "sessions"), session.WithSync(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	rt, err := satchel.New(satchel.WithSkillDirs(skills), satchel.WithStore(store), satchel.WithApprover(eino.Interrupt), satchel.WithTrace(a),
		satchel.WithFork(satchel.Fork{Run: eino.Fork(nil)}), satchel.WithPermissions(satchel.Permissions{Policy: permission.RestrictAll}))
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
	a.runner = adk.NewRunner(a.ctx, adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: streaming, CheckPointStore: diskCheckpoints{dir}})
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

func (a *askingAgent) query() map[string]core.Ask {
	a.t.Helper()
	return a.questions(drain(a.t, a.runner.Query(a.ctx, "q", adk.WithCheckPointID("c"))))
}

func (a *askingAgent) resume(answers map[string]any) map[string]core.Ask {
	a.t.Helper()
	events, err := a.runner.ResumeWithParams(a.ctx, "c", &adk.ResumeParams{Targets: answers})
	if err != nil {
		a.t.Fatal(err)
	}
	return a.questions(drain(a.t, events))
}

// questions are those that the run was interrupted by, by the interrupt's id.
func (a *askingAgent) questions(events []*adk.AgentEvent) map[string]core.Ask {
	a.t.Helper()
	noErrors(a.t, events)
	asks := map[string]core.Ask{}
	last := events[len(events)-1]
	if last.Action == nil || last.Action.Interrupted == nil {
		return asks
	}
	for _, c := range last.Action.Interrupted.InterruptContexts {
		ask, ok := eino.AskFrom(c.Info)
		if !ok {
			a.t.Fatalf("the interrupt says %v", c.Info)
		}
		asks[c.ID] = ask
	}
	return asks
}

func (a *askingAgent) ranOnly(want ...string) {
	a.t.Helper()
	if !slices.Equal(a.ran, want) {
		a.t.Errorf("ran %q, want %q", a.ran, want)
	}
}

func lastText(messages []*schema.Message) string { return text(messages[len(messages)-1]) }

// onlyQuestionID returns the id of the one question.
func onlyQuestionID(t *testing.T, asks map[string]core.Ask) string {
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
				id := onlyQuestionID(t, asks)
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

// Every question of a message has an answer of its own. A question without an answer stays
// open.
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
		id := onlyQuestionID(t, asks)
		a.ranOnly()
		if more := a.resume(map[string]any{id: "allow"}); len(more) != 0 {
			t.Errorf("more questions: %+v", more)
		}
		a.ranOnly("search {}")
	})
}

// A tool that interrupts the run itself has its own address: neither interrupt gets the answer
// to the other.
func TestInterruptOfAToolThatInterrupts(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		a := newAsking(t, t.TempDir(), streaming, []tool.BaseTool{approval(true)}, calling(call("1", "approve", "{}")), say("done"))
		id := onlyQuestionID(t, a.query())
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

// A tool that the host has described counts as known, even if only the handler of unknown tools
// runs it.
func TestInterruptInsideOfTheUnknownToolsHandler(t *testing.T) {
	rt := newRuntime(t, satchel.WithApprover(eino.Interrupt), satchel.WithPermissions(satchel.Permissions{HostTools: []permission.Tool{{Name: "ghost"}}}))
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

// An agent that is a tool was let pass when its own tools ask.
func TestInterruptOfAnAgentThatIsATool(t *testing.T) {
	rt := newRuntime(t, satchel.WithApprover(eino.Interrupt))
	ran := 0
	search := &hostTool{name: "search", run: func(context.Context, string) (string, error) { ran++; return "found", nil }}
	inner := &adk.ChatModelAgentConfig{Name: "helper", Model: script(calling(call("1", "search", "{}")), say("it is found"))}
	inner.ToolsConfig.Tools = []tool.BaseTool{search}
	install(t, inner, rt)
	lead := script(calling(call("1", "helper", `{"request":"find it"}`)), say("done"))
	outer := &adk.ChatModelAgentConfig{Name: "lead", Model: lead}
	outer.ToolsConfig.Tools = []tool.BaseTool{adk.NewAgentTool(t.Context(), newAgent(t, inner))}
	install(t, outer, rt)
	ctx := satchel.WithSession(t.Context(), "s")
	a := &askingAgent{t: t, ctx: ctx, runner: adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, outer), CheckPointStore: &checkpoints{}})}
	asks := a.query()
	for _, want := range []string{"lead helper", "helper search"} {
		id := onlyQuestionID(t, asks)
		if got := asks[id].Key.Agent + " " + asks[id].Call.Name; got != want {
			t.Errorf("asked about %s, want %s", got, want)
		}
		asks = a.resume(map[string]any{id: core.AnswerAllow})
	}
	if len(asks) != 0 || ran != 1 || lastText(lead.request(t, 1)) != "it is found" {
		t.Errorf("%d more questions, the tool ran %d times", len(asks), ran)
	}
}

func TestAskedReadsNothingElse(t *testing.T) {
	for _, info := range []any{nil, 1, "", "may I?", "{}", `{"bound":""}`, `[]`} {
		if ask, ok := eino.AskFrom(info); ok {
			t.Errorf("%v is %+v", info, ask)
		}
	}
}

// A list that outlives its skill interrupts the run too, and the question says why.
func TestInterruptForTheListOfASkillThatIsGone(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		a := newAsking(t, t.TempDir(), streaming, nil, calling(call("1", "skill_load", `{"skill":"listed"}`)), calling(call("2", "search", "{}")),
			calling(call("3", "skill_load", `{"skill":"free","mode":"replace"}`)), calling(call("4", "search", "{}")), say("done"))
		asks := a.query()
		id := onlyQuestionID(t, asks)
		if ask := asks[id]; ask.Call.ID != "4" || !strings.Contains(ask.Reason, "allowed-tools of listed") {
			t.Errorf("the question is %+v", ask)
		}
		a.ranOnly()
		if more := a.resume(map[string]any{id: "allow"}); len(more) != 0 {
			t.Errorf("more questions: %+v", more)
		}
		a.ranOnly("search {}")
	})
}
