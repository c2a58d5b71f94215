package eino_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

const reportBody = "REPORT BODY"

// forkFS has the skills report and audit, which ask to run as agents of their own.
func forkFS() fstest.MapFS {
	skills := skillFS()
	for name, head := range map[string]string{"report": "context: fork\nmodel: small", "audit": "context: fork_with_context"} {
		skills[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Writes the " + name + ".\n" + head + "\n---\n" + strings.ToUpper(name) + " BODY\n")}
	}
	return skills
}

// forkHost is a host whose agent runs skills as agents of their own.
type forkHost struct {
	rt     *satchel.Runtime
	model  *scripted
	agent  adk.Agent
	events []core.Event
}

func newForkHost(t *testing.T, f satchel.Fork, m *scripted, opts ...satchel.Option) *forkHost {
	t.Helper()
	h := &forkHost{model: m}
	if f.Run == nil {
		f.Run = eino.Fork(nil)
	}
	h.rt = emptyRuntime(t, append([]satchel.Option{satchel.WithSkillFS("test", forkFS()), satchel.WithFork(f),
		satchel.WithEvents(func(_ context.Context, e core.Event) { h.events = append(h.events, e) })}, opts...)...)
	cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "You are {host}."}
	cfg.ToolsConfig.Tools = []tool.BaseTool{&hostTool{name: "look"}}
	install(t, cfg, h.rt)
	h.agent = newAgent(t, cfg)
	return h
}

func withUsage(m *schema.Message, prompt, completion int) *schema.Message {
	c := *m
	c.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: prompt, CompletionTokens: completion}}
	return &c
}

func TestFork(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(loading("1", "report"),
			withUsage(calling(call("a", "look", "{}")), 100, 10), withUsage(say("THE REPORT"), 200, 20),
			say("done"))
		h := newForkHost(t, satchel.Fork{}, m)
		events := run(t, h.agent, "s", streaming, schema.UserMessage("report, please"))
		noErrors(t, events)
		if got := said(events); !slices.Equal(got, []string{"assistant: ", "tool: [forked: report, 2 model calls, 330 tokens]\nTHE REPORT", "assistant: done"}) {
			t.Errorf("the run said %q", got)
		}
		first := m.request(t, 1)
		if len(first) != 2 || first[0].Content != "You are {host}." || first[1].Role != schema.User || shows(first, reportBody) != 1 || shows(first, "available_skills") != 0 {
			t.Errorf("the fork began with\n%s", allText(first))
		}
		if !slices.Equal(m.offered[0], m.offered[1]) {
			t.Errorf("the fork was offered %q, want %q", m.offered[1], m.offered[0])
		}
		if !strings.HasPrefix(wire(t, m.request(t, 3)), strings.TrimSuffix(wire(t, m.request(t, 0)), "]")) || shows(m.request(t, 3), reportBody) != 0 {
			t.Errorf("the agent went on with\n%s", allText(m.request(t, 3)))
		}
		if got := loads(t, h.rt, "s"); len(got) > 0 {
			t.Errorf("loaded are %q", got)
		}
		var kinds []string
		for _, e := range h.events {
			if e.Fork != "" {
				kinds = append(kinds, fmt.Sprintf("%s %s %s %d", e.Kind, e.Key.Agent, e.Fork, e.Turn))
			}
		}
		of := func(kind core.EventKind) string { return string(kind) + " agent/fork:report#1 report 1" }
		for _, want := range []core.EventKind{core.ForkBegun, core.SkillLoaded, core.ModelCalled, core.ForkEnded} {
			if !slices.Contains(kinds, of(want)) {
				t.Errorf("no event %q in %q", of(want), kinds)
			}
		}
	})
}

// The skill that a fork carries out stays in its requests, also where loads end with an answer, and a
// request that cannot be prepared is no model call.
func TestForkKeepsItsTask(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(loading("1", "report"), calling(call("a", "look", "{}")), calling(call("b", "skill_unload", `{"skill":"report"}`)), say("THE REPORT"), say("done"))
		h := newForkHost(t, satchel.Fork{}, m, satchel.WithLoading(satchel.Loading{Mode: loadmode.Once}))
		noErrors(t, run(t, h.agent, "s", streaming, schema.UserMessage("report, please")))
		for i := 1; i < 4; i++ {
			if shows(m.request(t, i), reportBody) != 1 {
				t.Errorf("request %d of the fork\n%s", i, allText(m.request(t, i)))
			}
		}
		if got := lastText(m.request(t, 3)); !strings.HasPrefix(got, "not unloaded: report (") {
			t.Errorf("the unload is answered %q", got)
		}
	})
	both(t, func(t *testing.T, streaming bool) {
		m := script(loading("1", "report"), say("done"))
		h := newForkHost(t, satchel.Fork{}, m, satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: 1, Max: 2}}))
		noErrors(t, run(t, h.agent, "s", streaming, schema.UserMessage("report, please")))
		if got, want := lastText(m.request(t, 1)), "[forked: report, 0 model calls]\n[not finished: it could not begin: its task is too long for the content budget: "; !strings.HasPrefix(got, want) {
			t.Errorf("the agent gets %q, want %q", got, want)
		}
	})
}

// A question within a fork interrupts the agent above. The answer, in another process, goes on with
// the fork.
func TestForkAsks(t *testing.T) {
	for _, answer := range []core.Answer{core.AnswerAllow, core.AnswerDeny} {
		t.Run(string(answer), func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				dir := t.TempDir()
				a := newAsking(t, dir, streaming, nil, loading("1", "forked"), calling(call("s", "send", `{"to":"x"}`)))
				asks := a.query()
				id := onlyQuestionID(t, asks)
				if ask := asks[id]; ask.Call.Name != "send" || ask.Key.Agent != "agent/fork:forked#1" {
					t.Errorf("the question is %+v", ask)
				}
				b := newAsking(t, dir, streaming, nil, say("SENT"), say("done"))
				if left := b.resume(map[string]any{id: answer}); len(left) > 0 {
					t.Fatalf("questions after the answer: %+v", left)
				}
				result := lastText(b.model.request(t, 0))
				if answer == core.AnswerAllow {
					b.ranOnly(`send {"to":"x"}`)
				} else if b.ranOnly(); !strings.HasPrefix(result, "denied: ") {
					t.Errorf("the fork gets %q", result)
				}
				if first := b.model.request(t, 0); shows(first, "BODY") != 1 || len(first) != 3 {
					t.Errorf("the fork went on with\n%s", allText(first))
				}
				const fork = "agent/fork:forked#1 "
				if want := []string{"agent 1/1", fork + "1/1"}; !slices.Equal(a.numbers, want) {
					t.Errorf("the calls of the first process are %q, want %q", a.numbers, want)
				}
				if want := []string{"approval in " + fork + "1/1", fork + "1/2", "agent 1/2"}; !slices.Equal(b.numbers, want) {
					t.Errorf("the calls of the second process are %q, want %q", b.numbers, want)
				}
				if got, want := lastText(b.model.request(t, 1)), "[forked: forked, 2 model calls]\nSENT"; got != want {
					t.Errorf("the agent gets %q, want %q", got, want)
				}
			})
		})
	}
}

// Forks of one message run in order, also if the first one is interrupted. The later one waits, and asks
// nothing.
func TestForksInOrderOverAnInterrupt(t *testing.T) {
	for _, sequential := range []bool{true, false} {
		t.Run(fmt.Sprintf("sequential %t", sequential), func(t *testing.T) {
			if detectsRaces && !sequential {
				t.Skip("Eino writes a map when an agent resumes within a tool, and reads it where it starts the next tool")
			}
			m := script(calling(call("1", "skill_load", `{"skill":"report"}`), call("2", "skill_load", `{"skill":"audit"}`)),
				calling(call("a", "look", "{}")), say("THE REPORT"), say("THE AUDIT"), say("done"))
			looked := 0
			rt := emptyRuntime(t, satchel.WithSkillFS("test", forkFS()), satchel.WithFork(satchel.Fork{Run: eino.Fork(nil)}), satchel.WithApprover(eino.Interrupt),
				satchel.WithPermissions(satchel.Permissions{Policy: permission.RestrictAll}))
			cfg := &adk.ChatModelAgentConfig{Model: m}
			cfg.ToolsConfig.Tools = []tool.BaseTool{&hostTool{name: "look", run: func(context.Context, string) (string, error) { looked++; return "seen", nil }}}
			cfg.ToolsConfig.ExecuteSequentially = sequential
			install(t, cfg, rt)
			ctx := satchel.WithSession(t.Context(), "s")
			runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg), CheckPointStore: diskCheckpoints{t.TempDir()}})
			question := func(events []*adk.AgentEvent) (id string) {
				t.Helper()
				noErrors(t, events)
				last := events[len(events)-1]
				if last.Action == nil || last.Action.Interrupted == nil {
					return ""
				}
				for _, c := range last.Action.Interrupted.InterruptContexts {
					ask, ok := eino.AskFrom(c.Info)
					switch {
					case ok && id == "" && ask.Call.Name == "look":
						id = c.ID
					case ok || c.Info != "an earlier skill of the message waits for a person":
						t.Errorf("the interrupt says %v", c.Info)
					}
				}
				return id
			}
			id := question(drain(t, runner.Query(ctx, "q", adk.WithCheckPointID("c"))))
			if id == "" || len(m.seen) != 2 {
				t.Fatalf("the question is %q after %d requests", id, len(m.seen))
			}
			events, err := runner.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{id: core.AnswerAllow}})
			if err != nil {
				t.Fatal(err)
			}
			if more := question(drain(t, events)); more != "" || looked != 1 {
				t.Fatalf("another question %q; %d looks", more, looked)
			}
			var answers []string
			for _, r := range m.request(t, 4) {
				if r.Role == schema.Tool {
					answers = append(answers, r.Content)
				}
			}
			if want := []string{"[forked: report, 2 model calls]\nTHE REPORT", "[forked: audit, 1 model call]\nTHE AUDIT"}; !slices.Equal(answers, want) {
				t.Errorf("the agent gets %q, want %q", answers, want)
			}
		})
	}
}

// A host may give a fork another model, other tools and the conversation.
func TestForkWithContext(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		small := script(say("AUDITED"))
		m := script(calling(call("0", "look", "{}")), loading("1", "csv"), loading("2", "audit"), say("done"))
		h := newForkHost(t, satchel.Fork{Run: eino.Fork(func(_ context.Context, r satchel.ForkRequest, cfg *adk.ChatModelAgentConfig) error {
			if !r.HasHistory || cfg.Model == nil || len(cfg.ToolsConfig.Tools) != 1 {
				t.Errorf("request %+v, tools %v", r, cfg.ToolsConfig.Tools)
			}
			cfg.Model, cfg.ToolsConfig.Tools, cfg.Instruction = small, nil, "Be small."
			return nil
		})}, m)
		noErrors(t, run(t, h.agent, "", streaming, schema.UserMessage("look, then audit")))
		first := small.request(t, 0)
		if first[0].Content != "Be small." || text(first[1]) != "look, then audit" || first[3].Content != "ran look" || shows(first, "AUDIT BODY") != 1 || shows(first, csvBody) != 1 {
			t.Errorf("the fork began with\n%s", allText(first))
		}
		if slices.Contains(small.offered[0], "look") || shows(first, "available_skills") > 0 {
			t.Errorf("the fork was offered %q, and began with\n%s", small.offered[0], allText(first))
		}
		if got := lastText(m.request(t, 3)); got != "[forked: audit, 1 model call]\nAUDITED" {
			t.Errorf("the agent gets %q", got)
		}
	})
}

// A react agent runs forks as an adk agent does.
func TestForkOfReact(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(loading("1", "report"), calling(call("a", "look", "{}")), say("THE REPORT"), say("done"))
		rt := emptyRuntime(t, satchel.WithSkillFS("test", forkFS()), satchel.WithFork(satchel.Fork{Run: eino.Fork(nil)}))
		agent := newReact(t, &react.AgentConfig{
			ToolCallingModel: m, MaxStep: 12, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{&hostTool{name: "look"}}},
			MessageModifier: func(_ context.Context, in []*schema.Message) []*schema.Message {
				return append([]*schema.Message{schema.SystemMessage("You are {host}.")}, in...)
			},
		}, rt)
		out := askReact(t, t.Context(), agent, streaming, []*schema.Message{schema.UserMessage("report")})
		if out.Content != "done" {
			t.Errorf("answer %q", out.Content)
		}
		first := m.request(t, 1)
		if len(first) != 2 || first[0].Content != "You are {host}." || shows(first, reportBody) != 1 {
			t.Errorf("the fork began with\n%s", allText(first))
		}
		if got := lastText(m.request(t, 3)); got != "[forked: report, 2 model calls]\nTHE REPORT" {
			t.Errorf("the agent gets %q", got)
		}
	})
}

// A fork that loops, fails or whose model panics leaves the agent above unharmed.
func TestForkFails(t *testing.T) {
	for name, test := range map[string]struct {
		fork func() (*schema.Message, error)
		want string
	}{
		"loops":  {func() (*schema.Message, error) { return calling(call("a", "look", "{}")), nil }, "[forked: report, 2 model calls]\n[not finished: it has reached its limit of 2 model calls]"},
		"fails":  {func() (*schema.Message, error) { return nil, errors.New("no model") }, "[not finished: it failed: "},
		"panics": {func() (*schema.Message, error) { panic("oh") }, "[not finished: it failed: "},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				replies := script(loading("1", "report"), say("done"))
				small := answering(func([]*schema.Message) (*schema.Message, error) { return test.fork() })
				h := newForkHost(t, satchel.Fork{MaxTurns: 2, Run: eino.Fork(func(_ context.Context, _ satchel.ForkRequest, cfg *adk.ChatModelAgentConfig) error {
					cfg.Model = small
					return nil
				})}, replies)
				noErrors(t, run(t, h.agent, "s", streaming, schema.UserMessage("q")))
				if got := lastText(replies.request(t, 1)); !strings.Contains(got, test.want) {
					t.Errorf("the agent gets %q, want %q", got, test.want)
				}
			})
		})
	}
}
