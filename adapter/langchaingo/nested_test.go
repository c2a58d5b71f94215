package langchaingo

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/loadmode"
)

func loads(t *testing.T, rt *satchel.Runtime, session string) []string {
	t.Helper()
	all, err := rt.Loaded(satchel.WithSession(t.Context(), session))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range all {
		out = append(out, l.Agent+":"+l.Skill)
	}
	return out
}

// shown checks how often each request shows a body, and that none shows another.
func shown(t *testing.T, who string, llm *scripted, body, never string, want ...int) {
	t.Helper()
	if len(llm.sent) != len(want) {
		t.Fatalf("%s: %d requests, want %d", who, len(llm.sent), len(want))
	}
	for i, n := range want {
		if text := whole(llm.sent[i].messages); strings.Count(text, body) != n || strings.Contains(text, never) {
			t.Errorf("request %d of the %s:\n%s", i, who, text)
		}
	}
}

// An agent that is a tool of another agent with the same name has separate state, which is the
// same in every turn. That holds for agents with an adapter each, for the host's loop, and for
// an agent that is a tool of itself.
func TestNestedAgentsOfOneName(t *testing.T) {
	pdf, xlsx := call("p", "skill_load", `{"skill":"pdf"}`), call("c", "skill_load", `{"skill":"xlsx"}`)
	help := call("h", "helper", `{"__arg1":"do"}`)
	script2 := func() (parent, child *scripted) {
		return script(reply("", pdf), reply("", help), reply("one"), reply("", help), reply("two")),
			script(reply("", xlsx), reply("child 1"), reply("child 2"))
	}
	ask := func(t *testing.T, ex *agents.Executor) {
		t.Helper()
		for _, question := range []string{"first", "second"} {
			if _, err := chains.Run(satchel.WithSession(t.Context(), "s"), ex, question); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(t *testing.T, rt *satchel.Runtime, pm, cm *scripted) {
		t.Helper()
		shown(t, "parent", pm, "PDF BODY", "XLSX BODY", 0, 1, 1, 1, 1)
		shown(t, "child", cm, "XLSX BODY", "PDF BODY", 0, 1, 1)
		if got := loads(t, rt, "s"); !slices.Equal(got, []string{"agent:pdf", "agent/agent:xlsx"}) {
			t.Errorf("loaded are %q", got)
		}
	}
	t.Run("two kits", func(t *testing.T) {
		pm, cm := script2()
		rt := runtime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
		child := executor(install(t, rt, cm, nil))
		helper := hostTool{"helper", func(ctx context.Context, in string) (string, error) { return chains.Run(ctx, child, in) }}
		ask(t, executor(install(t, rt, pm, []tools.Tool{helper})))
		check(t, rt, pm, cm)
	})
	t.Run("a loop", func(t *testing.T) {
		pm, cm := script2()
		rt := runtime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
		adapter := install(t, rt, cm, nil)
		helper := hostTool{"helper", func(ctx context.Context, in string) (string, error) {
			msgs := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, in)}
			for {
				resp, err := adapter.Model().GenerateContent(ctx, msgs)
				if err != nil || len(resp.Choices[0].ToolCalls) == 0 {
					return "done", err
				}
				c := resp.Choices[0].ToolCalls[0]
				result, err := adapter.Call(ctx, c)
				if err != nil {
					return "", err
				}
				msgs = append(msgs, llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{c}},
					llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
			}
		}}
		ask(t, executor(install(t, rt, pm, []tools.Tool{helper})))
		check(t, rt, pm, cm)
	})
	t.Run("itself", func(t *testing.T) {
		pm, cm := script2()
		llm := &scripted{answer: func(_ int, s sent) (*llms.ContentResponse, error) {
			of := pm
			if strings.Contains(whole(s.messages), "child, do") {
				of = cm
			}
			return of.GenerateContent(t.Context(), s.messages)
		}}
		rt := runtime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
		var self *agents.Executor
		helper := hostTool{"helper", func(ctx context.Context, in string) (string, error) { return chains.Run(ctx, self, "child, "+in) }}
		self = executor(install(t, rt, llm, []tools.Tool{helper}))
		ask(t, self)
		check(t, rt, pm, cm)
	})
}

// A tool of the host that calls others of its own agent is not another agent.
func TestToolsOfOneAgentShareItsState(t *testing.T) {
	llm := script(reply("", call("1", "both", `{"__arg1":"x"}`)), reply("done"))
	rt := runtime(t)
	var adapter *Adapter
	adapter = install(t, rt, llm, []tools.Tool{hostTool{"both", func(ctx context.Context, _ string) (string, error) {
		for _, skill := range []string{"pdf", "xlsx"} {
			if _, err := adapter.Call(ctx, call("", "skill_load", `{"skill":"`+skill+`"}`)); err != nil {
				return "", err
			}
		}
		return "both", nil
	}}})
	if _, err := chains.Run(satchel.WithSession(t.Context(), "s"), executor(adapter), "go"); err != nil {
		t.Fatal(err)
	}
	if got := loads(t, rt, "s"); !slices.Equal(got, []string{"agent:pdf", "agent:xlsx"}) {
		t.Errorf("loaded are %q", got)
	}
}

// An empty id is no name that users could share.
func TestEmptySessionIsNotShared(t *testing.T) {
	rt := runtime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
	llm := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("one"), reply("two"))
	adapter := install(t, rt, llm, nil)
	ctx := satchel.WithSession(t.Context(), "")
	for _, user := range []string{"ann", "bob"} {
		if _, err := chains.Run(ctx, executor(adapter), user); err != nil {
			t.Fatal(err)
		}
	}
	shown(t, "model", llm, "PDF BODY", "XLSX BODY", 0, 1, 0)
	if _, err := rt.Loaded(ctx); err == nil {
		t.Error("there is a session without a name")
	}
}
