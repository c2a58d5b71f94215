package langchaingo

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	satcheltools "github.com/satchel-go/satchel/tools"
)

var forkSkills = fstest.MapFS{
	"report/SKILL.md": {Data: []byte("---\nname: report\ndescription: Writes the report.\ncontext: fork\nmodel: small\n---\nREPORT BODY\n")},
	"audit/SKILL.md":  {Data: []byte("---\nname: audit\ndescription: Audits.\ncontext: fork_with_context\n---\nAUDIT BODY\n")},
}

func withUsage(r *llms.ContentResponse, prompt, completion int) *llms.ContentResponse {
	r.Choices[0].GenerationInfo = map[string]any{"PromptTokens": prompt, "CompletionTokens": completion, "TotalTokens": prompt + completion}
	return r
}

func TestFork(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		t.Run(map[bool]string{false: "whole", true: "streamed"}[streaming], func(t *testing.T) {
			llm := script(reply("", call("1", "skill_load", `{"skill":"report"}`)),
				withUsage(reply("", call("a", "look", `{"__arg1":"x"}`)), 100, 10), withUsage(reply("THE REPORT"), 200, 20), reply("done"))
			var events []core.Event
			rt := runtime(t, satchel.WithSkillFS("forks", forkSkills), satchel.WithFork(satchel.Fork{Run: Fork(nil)}),
				satchel.WithEvents(func(_ context.Context, e core.Event) { events = append(events, e) }))
			var streamed strings.Builder
			opts := []Option{WithSystem("You are {host}.")}
			if streaming {
				opts = append(opts, WithStreaming(func(_ context.Context, chunk []byte) error { streamed.Write(chunk); return nil }))
			}
			adapter := install(t, rt, llm, []tools.Tool{hostTool{name: "look"}}, opts...)
			answer, err := chains.Run(satchel.WithSession(t.Context(), "s"), executor(adapter), "report, please")
			if err != nil || answer != "done" {
				t.Fatalf("answer %q, error %v", answer, err)
			}
			if streaming && streamed.String() != "done" {
				t.Errorf("streamed %q", streamed.String())
			}
			first := llm.sent[1].messages
			if text := whole(first); len(first) != 2 || joinText(first[0].Parts) != "You are {host}." || strings.Count(text, "REPORT BODY") != 1 || strings.Contains(text, "available_skills") {
				t.Errorf("the fork began with\n%s", text)
			}
			last := whole(llm.sent[3].messages)
			if !strings.HasPrefix(last, whole(llm.sent[0].messages)) || strings.Contains(last, "REPORT BODY") ||
				!strings.Contains(last, "[forked: report, 2 model calls, 330 tokens]\nTHE REPORT") {
				t.Errorf("the agent went on with\n%s", last)
			}
			if got := loads(t, rt, "s"); len(got) > 0 {
				t.Errorf("loaded are %q", got)
			}
			if !slices.ContainsFunc(events, func(e core.Event) bool {
				return e.Kind == core.ModelCalled && e.Fork == "report" && e.Key.Agent == "agent/fork:report#1" && e.Turn == 1
			}) {
				t.Errorf("no model call of the fork in %v", events)
			}
		})
	}
}

// The skill that a fork carries out stays in its requests, also where loads end with an answer, and a
// request that cannot be prepared is no model call.
func TestForkKeepsItsTask(t *testing.T) {
	run := func(t *testing.T, loading satchel.Loading, llm *scripted) {
		t.Helper()
		rt := runtime(t, satchel.WithSkillFS("forks", forkSkills), satchel.WithFork(satchel.Fork{Run: Fork(nil)}), satchel.WithLoading(loading))
		adapter := install(t, rt, llm, []tools.Tool{hostTool{name: "look"}})
		if answer, err := chains.Run(satchel.WithSession(t.Context(), "s"), executor(adapter), "report, please"); err != nil || answer != "done" {
			t.Fatalf("answer %q, error %v", answer, err)
		}
	}
	llm := script(reply("", call("1", "skill_load", `{"skill":"report"}`)), reply("", call("a", "look", `{"__arg1":"x"}`)),
		reply("", call("b", "skill_unload", `{"skill":"report"}`)), reply("THE REPORT"), reply("done"))
	run(t, satchel.Loading{Mode: loadmode.Once}, llm)
	for i := 1; i < 4; i++ {
		if text := whole(llm.sent[i].messages); strings.Count(text, "REPORT BODY") != 1 {
			t.Errorf("request %d of the fork\n%s", i, text)
		}
	}
	if text := whole(llm.sent[3].messages); !strings.Contains(text, "not unloaded: report (") {
		t.Errorf("the unload is answered\n%s", text)
	}
	llm = script(reply("", call("1", "skill_load", `{"skill":"report"}`)), reply("done"))
	run(t, satchel.Loading{Budget: satcheltools.Budget{Warn: 1, Max: 2}}, llm)
	if text := whole(llm.sent[1].messages); !strings.Contains(text, "[forked: report, 0 model calls]\n[not finished: it could not begin: its task is too long for the content budget: ") {
		t.Errorf("the agent gets\n%s", text)
	}
}

// A fork may have another model and other tools, and the conversation if its skill asks for it.
func TestForkWithContext(t *testing.T) {
	llm := script(reply("", call("0", "look", `{"__arg1":"x"}`)), reply("", call("1", "skill_load", `{"skill":"audit"}`)), reply("done"))
	small := script(reply("AUDITED"))
	rt := runtime(t, satchel.WithSkillFS("forks", forkSkills), satchel.WithFork(satchel.Fork{
		Run: Fork(func(_ context.Context, r satchel.ForkRequest, agent *ForkAgent) error {
			if !r.HasHistory || len(agent.Tools) != 1 {
				t.Errorf("request %+v, tools %v", r, agent.Tools)
			}
			agent.Model, agent.System, agent.Tools = small, "Small.", nil
			return nil
		}),
	}))
	ex := executor(install(t, rt, llm, []tools.Tool{hostTool{name: "look"}}))
	if answer, err := chains.Run(satchel.WithSession(t.Context(), "s"), ex, "look and audit"); err != nil || answer != "done" {
		t.Fatalf("answer %q, error %v", answer, err)
	}
	text := whole(small.sent[0].messages)
	want := []string{"Small.", "look and audit", "look got x", "AUDIT BODY"}
	at := 0
	for _, part := range want {
		i := strings.Index(text[at:], part)
		if i < 0 {
			t.Fatalf("the fork lacks %q in order:\n%s", part, text)
		}
		at += i
	}
	if strings.Contains(text, "available_skills") || strings.Contains(text, "helpful AI") {
		t.Errorf("the fork began with\n%s", text)
	}
}

// Agents that work in text, and hosts with a loop of their own, run forks too.
func TestForkOfOtherAgents(t *testing.T) {
	withFork := satchel.WithFork(satchel.Fork{Run: Fork(func(_ context.Context, _ satchel.ForkRequest, agent *ForkAgent) error {
		agent.NewAgent = func(m llms.Model, tools []tools.Tool) agents.Agent { return agents.NewOneShotAgent(m, tools) }
		return nil
	})})
	t.Run("mrkl", func(t *testing.T) {
		llm := script(reply("Action: skill_load\nAction Input: report"), reply("Final Answer: THE REPORT"), reply("Final Answer: done"))
		rt := runtime(t, satchel.WithSkillFS("forks", forkSkills), withFork)
		adapter := install(t, rt, llm, nil)
		ex := agents.NewExecutor(adapter.Agent(agents.NewOneShotAgent(adapter.Model(), adapter.Tools())))
		if answer, err := chains.Run(satchel.WithSession(t.Context(), "s"), ex, "report"); err != nil || answer != "done" {
			t.Fatalf("answer %q, error %v", answer, err)
		}
		if text := whole(llm.sent[1].messages); strings.Count(text, "REPORT BODY") != 1 || strings.Contains(text, "available_skills") {
			t.Errorf("the fork began with\n%s", text)
		}
		if text := whole(llm.sent[2].messages); !strings.Contains(text, "[forked: report, 1 model call]\nTHE REPORT") {
			t.Errorf("the agent went on with\n%s", text)
		}
	})
	t.Run("loop, anonymous", func(t *testing.T) {
		llm := script(reply("", call("1", "skill_load", `{"skill":"report"}`)), reply("THE REPORT"))
		rt := runtime(t, satchel.WithSkillFS("forks", forkSkills), satchel.WithFork(satchel.Fork{Run: Fork(nil)}))
		adapter := install(t, rt, llm, nil)
		ctx, end := adapter.Begin(t.Context())
		defer func() { _ = end() }()
		msgs := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "SYSTEM"), llms.TextParts(llms.ChatMessageTypeHuman, "report")}
		resp, err := adapter.Model().GenerateContent(ctx, msgs)
		if err != nil {
			t.Fatal(err)
		}
		result, err := adapter.Call(ctx, resp.Choices[0].ToolCalls[0])
		if err != nil || result.Content != "[forked: report, 1 model call]\nTHE REPORT" {
			t.Errorf("result %q, error %v", result.Content, err)
		}
		if first := llm.sent[1].messages; joinText(first[0].Parts) != "SYSTEM" || len(first) != 2 {
			t.Errorf("the fork began with\n%s", whole(first))
		}
	})
}
