package eino_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
)

// events records what the runtime reports.
type events struct {
	mu  sync.Mutex
	all []core.Event
}

func (e *events) hook(_ context.Context, one core.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, one)
}

func (e *events) of(kind core.EventKind) []core.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.all), func(one core.Event) bool { return one.Kind != kind })
}

func (e *events) count(kind core.EventKind, agent string) int {
	n := 0
	for _, one := range e.of(kind) {
		if one.Key.Agent == agent {
			n++
		}
	}
	return n
}

func transfer(id, to string) *schema.Message {
	return calling(call(id, adk.TransferToAgentToolName, `{"agent_name":"`+to+`"}`))
}

// shown fails unless each request shows each body as often as wanted.
func shown(t *testing.T, who string, m *scripted, body string, want ...int) {
	t.Helper()
	if m.calls() != len(want) {
		t.Fatalf("%s was called %d times, want %d", who, m.calls(), len(want))
	}
	for i, n := range want {
		if got := shows(m.request(t, i), body); got != n {
			t.Errorf("%s, call %d, shows %q %d times, want %d:\n%s", who, i, body, got, n, allText(m.request(t, i)))
		}
	}
}

func TestTransfers(t *testing.T) {
	for name, session := range map[string]string{"named": "s", "anonymous": ""} {
		for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Session} {
			t.Run(name, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					var seen events
					rt := newRuntime(t, satchel.WithEvents(seen.hook), satchel.WithLoading(satchel.Loading{Mode: mode}))
					parent := script(loading("1", "pdf"), transfer("2", "child"), say("parent is done"))
					child := script(loading("1", "csv"), transfer("3", "parent"))
					pc := &adk.ChatModelAgentConfig{Name: "parent", Model: parent, Instruction: "Lead."}
					cc := &adk.ChatModelAgentConfig{Name: "child", Model: child, Instruction: "Help."}
					install(t, pc, rt)
					install(t, cc, rt)
					root, err := adk.SetSubAgents(t.Context(), newAgent(t, pc), []adk.Agent{newAgent(t, cc)})
					if err != nil {
						t.Fatal(err)
					}
					noErrors(t, run(t, root, session, streaming, schema.UserMessage("q")))

					shown(t, "parent", parent, pdfBody, 0, 1, 1)
					shown(t, "parent", parent, csvBody, 0, 0, 0)
					shown(t, "child", child, pdfBody, 0, 0)
					shown(t, "child", child, csvBody, 0, 1)
					if !strings.Contains(allText(child.request(t, 0)), "For context: [parent]") {
						t.Errorf("nothing was rewritten for the child:\n%s", allText(child.request(t, 0)))
					}
					if session == "" {
						return // each part of the run has its own session, restored from the transcript
					}
					for _, agent := range []string{"parent", "child"} {
						if got := seen.count(core.TurnBegun, agent); got != 1 {
							t.Errorf("%s began %d turns, want 1", agent, got)
						}
					}
				})
			})
		}
	}
}

func TestAgentTool(t *testing.T) {
	for name, session := range map[string]string{"named": "s", "anonymous": ""} {
		for _, full := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					var seen events
					rt := newRuntime(t, satchel.WithEvents(seen.hook))
					child := script(loading("1", "csv"), say("child is done"))
					cc := &adk.ChatModelAgentConfig{Name: "child", Model: child}
					install(t, cc, rt)
					var opts []adk.AgentToolOption
					if full {
						opts = append(opts, adk.WithFullChatHistoryAsInput())
					}
					parent := script(loading("1", "pdf"), calling(call("2", "child", `{"request":"sort this"}`)), say("done"))
					pc := &adk.ChatModelAgentConfig{Name: "parent", Model: parent}
					pc.ToolsConfig.Tools = []tool.BaseTool{adk.NewAgentTool(t.Context(), newAgent(t, cc), opts...)}
					install(t, pc, rt)
					noErrors(t, run(t, newAgent(t, pc), session, streaming, schema.UserMessage("q")))

					shown(t, "parent", parent, pdfBody, 0, 1, 1)
					shown(t, "parent", parent, csvBody, 0, 0, 0)
					shown(t, "child", child, pdfBody, 0, 0)
					shown(t, "child", child, csvBody, 0, 1)
					if shows(parent.request(t, 2), "child is done") != 1 {
						t.Errorf("the child's answer is lost:\n%s", allText(parent.request(t, 2)))
					}
					for agent, skill := range map[string]string{"parent": "pdf", "child": "csv"} {
						if got := seen.count(core.TurnBegun, agent); got != 1 {
							t.Errorf("%s began %d turns, want 1", agent, got)
						}
						for _, e := range seen.of(core.SkillLoaded) {
							if e.Key.Agent == agent && e.Skill != skill {
								t.Errorf("%s loaded %q", agent, e.Skill)
							}
						}
					}
				})
			})
		}
	}
}

// A host with a rewriter of its own says which messages it wrote.
func TestOwnHistoryRewriter(t *testing.T) {
	var seen events
	rt := newRuntime(t, satchel.WithEvents(seen.hook))
	parent := script(loading("1", "pdf"), transfer("2", "child"), say("done"))
	child := script(transfer("1", "parent"))
	pc := &adk.ChatModelAgentConfig{Name: "parent", Model: parent}
	cc := &adk.ChatModelAgentConfig{Name: "child", Model: child}
	mine := eino.WithRewritten(func(m *schema.Message) bool { return strings.HasPrefix(m.Content, "Note: ") })
	install(t, pc, rt, mine)
	install(t, cc, rt, mine)
	rewriter := func(_ context.Context, entries []*adk.HistoryEntry) ([]*schema.Message, error) {
		var out []*schema.Message
		for _, e := range entries {
			switch {
			case e.IsUserInput || e.AgentName == "parent":
				out = append(out, e.Message)
			default:
				out = append(out, schema.UserMessage("Note: "+e.AgentName+" wrote "+e.Message.Content))
			}
		}
		return out, nil
	}
	withRewriter := adk.AgentWithOptions(t.Context(), newAgent(t, pc), adk.WithHistoryRewriter(rewriter))
	root, err := adk.SetSubAgents(t.Context(), withRewriter, []adk.Agent{newAgent(t, cc)})
	if err != nil {
		t.Fatal(err)
	}
	noErrors(t, run(t, root, "s", false, schema.UserMessage("q")))
	shown(t, "parent", parent, pdfBody, 0, 1, 1)
	if got := seen.count(core.TurnBegun, "parent"); got != 1 {
		t.Errorf("parent began %d turns, want 1", got)
	}
	if shows(parent.request(t, 2), "Note: child wrote") == 0 {
		t.Errorf("the rewriter was not used:\n%s", allText(parent.request(t, 2)))
	}
}

func TestTurnsOfOneSession(t *testing.T) {
	for mode, want := range map[loadmode.Mode][]int{
		loadmode.Turn:    {0, 1, 1, 0, 0},
		loadmode.Session: {0, 1, 1, 1, 1},
		loadmode.Once:    {0, 1, 0, 0, 0},
	} {
		both(t, func(t *testing.T, streaming bool) {
			m := script(loading("1", "pdf"), calling(call("2", "look", "{}")), say("one"),
				calling(call("3", "look", "{}")), say("two"))
			cfg := &adk.ChatModelAgentConfig{Model: m}
			cfg.ToolsConfig.Tools = []tool.BaseTool{&hostTool{name: "look"}}
			install(t, cfg, newRuntime(t, satchel.WithLoading(satchel.Loading{Mode: mode})))
			agent := newAgent(t, cfg)
			history := []*schema.Message{schema.UserMessage("first")}
			for _, e := range run(t, agent, "s", streaming, history...) {
				history = append(history, e.Output.MessageOutput.Message)
			}
			run(t, agent, "s", streaming, append(history, schema.UserMessage("second"))...)
			shown(t, "agent", m, pdfBody, want...)
		})
	}
}
