package langchaingo

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

func TestAgentSendsTheConversationAsItHappened(t *testing.T) {
	llm := script(
		reply("thinking...", call("1", "search", `{"__arg1":"hello"}`), call("2", "skill_load", `{"skill":"pdf"}`)),
		reply("", call("3", "search", `{"__arg1":"again"}`)),
		reply("", call("3", "search", `{"__arg1":"again"}`)), // repeats the call with the same id
		reply("", call("", "search", `{"q": [1]}`), call("", "nothing", ``)),
		reply("final"),
	)
	var got []string
	search := hostTool{"search", func(_ context.Context, in string) (string, error) {
		got = append(got, in)
		return "r" + in, nil
	}}
	adapter := install(t, runtime(t), llm, []tools.Tool{search}, WithSystem("Be {{ brief }} {and} kind."))
	question := "user {{.x}} {y} <b>&amp;</b> text"
	answer, err := chains.Run(satchel.WithSession(t.Context(), "s"), executor(adapter), question)
	if err != nil || answer != "final" {
		t.Fatalf("Run = %q, %v", answer, err)
	}
	want := []string{
		"0 system: Be {{ brief }} {and} kind.…",
		"1 human: " + question,
		"2 ai: thinking...",
		`2 ai: call 1 search {"__arg1":"hello"}`,
		`2 ai: call 2 skill_load {"skill":"pdf"}`,
		"3 tool: result 1 search rhello",
		"4 tool: result 2 skill_load loaded: pdf…",
		`5 ai: call 3 search {"__arg1":"again"}`,
		"6 tool: result 3 search ragain",
		`7 ai: call 3 search {"__arg1":"again"}`,
		"8 tool: result 3 search ragain",
		`9 ai: call call_3_0 search {"q": [1]}`,
		"9 ai: call call_3_1 nothing {}",
		`10 tool: result call_3_0 search r{"q": [1]}`,
		`11 tool: result call_3_1 nothing error: there is no tool "nothing"; call one that you were given, such as skill_load, skill_select_docs, skill_list_docs, skill_unload, skill_read, skill_run, skill_exec, skill_write_stdin, skill_poll_session, skill_kill_session, search`,
	}
	if diff := differ(want, lines(llm.last().messages)); diff != "" {
		t.Errorf("last request (-want +got):\n%s", diff)
	}
	if diff := differ([]string{"hello", "again", "again", `{"q": [1]}`}, got); diff != "" {
		t.Errorf("tool inputs (-want +got):\n%s", diff)
	}
	if text := whole(llm.last().messages); strings.Count(text, "PDF BODY {{ .x }} {y}") != 1 || strings.Contains(text, "XLSX BODY") {
		t.Errorf("the body of pdf must be there once, and no other:\n%s", text)
	}
	prefixes(t, llm)
}

// prefixes checks that every request begins with the one before it and offers the same tools.
func prefixes(t *testing.T, llm *scripted) {
	t.Helper()
	for i := 1; i < len(llm.sent); i++ {
		before, now := llm.sent[i-1], llm.sent[i]
		if len(now.messages) < len(before.messages) || differ(before.messages, now.messages[:len(before.messages)]) != "" {
			t.Errorf("request %d does not begin with request %d:\n%v\n%v", i, i-1, lines(before.messages), lines(now.messages))
		}
		if a, b := definitions(t, before.options.Tools), definitions(t, now.options.Tools); differ(a, b) != "" {
			t.Errorf("the tools changed:\n%s", differ(a, b))
		}
	}
}

type recorder struct {
	callbacks.SimpleHandler
	actions  []schema.AgentAction
	finishes int
}

func (r *recorder) HandleAgentAction(_ context.Context, a schema.AgentAction) {
	r.actions = append(r.actions, a)
}
func (r *recorder) HandleAgentFinish(context.Context, schema.AgentFinish) { r.finishes++ }

func TestAgentLooksAsWithoutIt(t *testing.T) {
	replies := func() *scripted {
		return script(reply("hm", call("1", "a", `{"__arg1":"x"}`), call("2", "b", `{"k":1}`)), reply("done"))
	}
	host := []tools.Tool{hostTool{name: "a"}, hostTool{name: "b"}}
	run := func(agent agents.Agent) (map[string]any, *recorder) {
		seen := &recorder{}
		e := agents.NewExecutor(agent, agents.WithReturnIntermediateSteps(), agents.WithCallbacksHandler(seen))
		out, err := e.Call(t.Context(), map[string]any{"input": "q"})
		if err != nil {
			t.Fatal(err)
		}
		return out, seen
	}
	plain, plainSeen := run(agents.NewOpenAIFunctionsAgent(replies(), host))
	adapter := install(t, runtime(t), replies(), host)
	decorated, seen := run(adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools())))
	if diff := differ(plain, decorated); diff != "" {
		t.Errorf("results (-plain +decorated):\n%s", diff)
	}
	if diff := differ(plainSeen, seen); diff != "" {
		t.Errorf("callbacks (-plain +decorated):\n%s", diff)
	}
}

func TestAgentForwards(t *testing.T) {
	adapter := install(t, runtime(t), script(), []tools.Tool{hostTool{name: "a"}})
	bare := agents.NewOpenAIFunctionsAgent(adapter.Model(), []tools.Tool{hostTool{name: "late"}}, agents.WithOutputKey("text"))
	agent := adapter.Agent(bare)
	if diff := differ([]string{"input"}, agent.GetInputKeys()); diff != "" {
		t.Error(diff)
	}
	if diff := differ([]string{"output"}, adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), nil)).GetOutputKeys()); diff != "" {
		t.Error(diff)
	}
	var names []string
	for _, tool := range agent.GetTools() {
		if _, ok := tool.(*skillTool); !ok {
			t.Errorf("%s is not behind the gate: %T", tool.Name(), tool)
		}
		names = append(names, tool.Name())
	}
	if names[0] != "late" || names[1] != "skill_load" || len(names) != 1+len(adapter.offer.ownTools) {
		t.Errorf("tools = %v", names)
	}
}

func TestPlanTwiceFromTheSameSteps(t *testing.T) {
	llm := script(
		reply("", call("1", "skill_load", `{"skill":"pdf"}`)),
		reply("", call("1", "skill_load", `{"skill":"pdf"}`)),
		reply("", call("2", "a", `{}`)),
		reply("done"),
	)
	adapter := install(t, runtime(t), llm, []tools.Tool{hostTool{name: "a"}})
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
	inputs := map[string]string{"input": "q"}
	plan := func(steps []schema.AgentStep) []schema.AgentAction {
		t.Helper()
		actions, _, err := agent.Plan(t.Context(), steps, inputs)
		if err != nil {
			t.Fatal(err)
		}
		return actions
	}
	plan(nil)
	actions := plan(nil)
	if diff := differ(lines(llm.sent[0].messages), lines(llm.sent[1].messages)); diff != "" {
		t.Errorf("the retry sent something else:\n%s", diff)
	}
	loaded, err := adapter.byName["SKILL_LOAD"].Call(t.Context(), actions[0].ToolInput)
	if err != nil || !strings.HasPrefix(loaded, "loaded: pdf") {
		t.Fatalf("load = %q, %v", loaded, err)
	}
	done := []schema.AgentStep{{Action: actions[0], Observation: loaded}}
	plan(done)
	plan(done)
	if diff := differ(whole(llm.sent[2].messages), whole(llm.sent[3].messages)); diff != "" || !strings.Contains(whole(llm.sent[3].messages), "PDF BODY") {
		t.Errorf("the retry sent something else:\n%s\n%s", diff, whole(llm.sent[3].messages))
	}
	if n := len(adapter.runs.byInputs); n != 0 {
		t.Errorf("%d runs are left after the agent finished", n)
	}
}

func TestTurnEndsWithTheCall(t *testing.T) {
	llm := script(
		reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("one"),
		reply("two"),
	)
	rt := runtime(t)
	adapter := install(t, rt, llm, nil)
	ctx := satchel.WithSession(t.Context(), "s")
	for _, q := range []string{"q", "q"} { // the second time, the same question begins a new turn
		if _, err := chains.Run(ctx, executor(adapter), q); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := rt.Loaded(ctx)
	if err != nil || len(loaded) != 0 {
		t.Errorf("Loaded after the next turn = %v, %v", loaded, err)
	}
	if text := whole(llm.last().messages); strings.Contains(text, "PDF BODY") {
		t.Errorf("the body outlived its turn:\n%s", text)
	}
}

func TestLoadsOutliveACall(t *testing.T) {
	for name, placement := range map[string]processors.Placement{"in the result": processors.InToolResult, "in the system message": processors.InSystem} {
		t.Run(name, func(t *testing.T) {
			llm := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("one"), reply("two"), reply("three"))
			rt := runtime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session, Placement: placement}))
			adapter := install(t, rt, llm, nil, WithHistory(NewConversations().History))
			ctx := satchel.WithSession(t.Context(), "s")
			for _, q := range []string{"q1", "q2", "q3"} {
				if _, err := chains.Run(ctx, executor(adapter), q); err != nil {
					t.Fatal(err)
				}
			}
			for i, s := range llm.sent[1:] {
				if n := strings.Count(whole(s.messages), "PDF BODY"); n != 1 {
					t.Errorf("the body is %d times in request %d:\n%s", n, i+1, whole(s.messages))
				}
			}
			two, three := llm.sent[2].messages, llm.sent[3].messages
			if diff := differ(two, three[:len(two)]); diff != "" {
				t.Errorf("the third turn does not begin with the second:\n%s", diff)
			}
		})
	}
}

func TestTurnOfTheHost(t *testing.T) {
	llm := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("one"), reply("two"))
	rt := runtime(t)
	adapter := install(t, rt, llm, nil)
	ctx := satchel.BeginTurn(satchel.WithSession(t.Context(), "s"), "turn-1")
	for range 2 {
		if _, err := chains.Run(ctx, executor(adapter), "q"); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := rt.Loaded(ctx)
	if err != nil || len(loaded) != 1 {
		t.Errorf("Loaded in the same turn = %v, %v", loaded, err)
	}
}

func TestAgentNeverChangesTheCallers(t *testing.T) {
	llm := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("done"))
	adapter := install(t, runtime(t), llm, nil)
	ctx := satchel.WithSession(t.Context(), "s")
	given := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "sys"),
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "look at "}, llms.ImageURLContent{URL: "http://x/y.png"}, llms.TextContent{Text: "this"}}},
		ai(llms.ToolCall{ID: "1", FunctionCall: &llms.FunctionCall{Name: "skill_load", Arguments: "pdf"}}),
		result(llms.ToolCallResponse{ToolCallID: "1", Content: "loaded"}),
	}
	before := deepCopy(given)
	if _, err := adapter.Model().GenerateContent(ctx, given); err != nil {
		t.Fatal(err)
	}
	if diff := differ(before, given); diff != "" {
		t.Errorf("the caller's messages changed:\n%s", diff)
	}
	if &llm.sent[0].messages[1].Parts[0] == &given[1].Parts[0] {
		t.Fatal("the recorder does not copy")
	}
	if diff := differ(given[1], llm.sent[0].messages[1]); diff != "" {
		t.Errorf("the user's message changed:\n%s", diff)
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	broken := errors.New("broken")
	llm := &scripted{answer: func(n int, _ sent) (*llms.ContentResponse, error) {
		if n == 0 {
			return reply("", call("1", "skill_load", `{"skill":"pdf"}`)), nil
		}
		return nil, broken
	}}
	adapter := install(t, runtime(t), llm, nil)
	_, err := chains.Run(t.Context(), executor(adapter), "q")
	if !errors.Is(err, broken) {
		t.Errorf("Run = %v", err)
	}
	if n := adapter.runs.live.Len(); n != 0 || len(adapter.runs.byInput) != 0 {
		t.Errorf("%d runs and %d calls are left", n, len(adapter.runs.byInput))
	}
}
