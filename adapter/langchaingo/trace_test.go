package langchaingo

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/wiretest"
)

var question = []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "q")}

func TestTraceOfAnAnswer(t *testing.T) {
	broken := errors.New("503 from the provider")
	failing := func(error) *scripted {
		return &scripted{answer: func(int, sent) (*llms.ContentResponse, error) { return nil, broken }}
	}
	refuse := llms.WithStreamingFunc(func(context.Context, []byte) error { return broken })
	for _, tc := range []struct {
		name    string
		llm     *scripted
		options []llms.CallOption
		want    core.ModelAnswer
	}{
		{"text and calls", script(withUsage(reply("Let me see.", call("", "skill_load", "{}")), 100, 7)), nil, core.ModelAnswer{Text: "Let me see.",
			Calls: []core.ToolCall{{ID: "call_0_0", Name: "skill_load", Arguments: "{}"}}, Usage: core.Usage{Prompt: 100, Completion: 7}}},
		{"one choice per block", script(&llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "a"}, {Content: "b"}}}), nil, core.ModelAnswer{Text: "ab"}},
		{"alternatives", script(&llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "a"}, {Content: "b"}, reply("", call("", "skill_load", "")).Choices[0]}}),
			[]llms.CallOption{llms.WithN(3)}, core.ModelAnswer{Text: "a", Alternatives: []core.Message{
				{Role: core.Assistant, Text: "b"}, {Role: core.Assistant, Calls: []core.ToolCall{{ID: "call_0_0", Name: "skill_load", Arguments: "{}"}}}}}},
		{"empty", script(&llms.ContentResponse{}), nil, core.ModelAnswer{Err: errNoResponse}},
		{"failure", failing(broken), nil, core.ModelAnswer{Err: broken}},
		{"failure of the stream", script(reply("a")), []llms.CallOption{refuse}, core.ModelAnswer{Err: broken}},
		{"panic", &scripted{answer: func(int, sent) (*llms.ContentResponse, error) { panic("no") }}, nil, core.ModelAnswer{Err: errModelPanic}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			trace := &wiretest.Trace{}
			a := install(t, runtime(t, satchel.WithTrace(trace)), tc.llm, nil)
			func() {
				defer func() { _ = recover() }()
				_, _ = a.Model().GenerateContent(satchel.WithSession(t.Context(), "s"), question, tc.options...)
			}()
			all := trace.Exchanges(t)
			if len(all) != 1 {
				t.Fatalf("the trace has %d exchanges, want 1", len(all))
			}
			got := all[0].Answer
			if got.Text != tc.want.Text || !slices.Equal(got.Calls, tc.want.Calls) || got.Usage != tc.want.Usage || !errors.Is(got.Err, tc.want.Err) ||
				!reflect.DeepEqual(got.Alternatives, tc.want.Alternatives) {
				t.Errorf("the answer is traced as %+v, want %+v", got, tc.want)
			}
		})
	}
}

// namedModel names itself.
type namedModel struct{ *scripted }

func (namedModel) ModelName() string { return "own-name" }

func TestTraceNamesTheModel(t *testing.T) {
	small := []llms.CallOption{llms.WithModel("small")}
	for _, tc := range []struct {
		llm     llms.Model
		options []llms.CallOption
		want    string
	}{
		{script(reply("a")), nil, ""},
		{script(reply("a")), small, "small"},
		{namedModel{script(reply("a"))}, nil, "own-name"},
		{namedModel{script(reply("a"))}, small, "small"},
	} {
		trace := &wiretest.Trace{}
		a := install(t, runtime(t, satchel.WithTrace(trace)), tc.llm, nil)
		if _, err := a.Model().GenerateContent(satchel.WithSession(t.Context(), "s"), question, tc.options...); err != nil {
			t.Fatal(err)
		}
		if got := trace.Exchanges(t)[0].Request.Model; got != tc.want {
			t.Errorf("the model is traced as %q, want %q", got, tc.want)
		}
	}
}

// The calls of a text agent are known when the agent has read them from the answer. A request without a readable answer
// has none.
func TestTraceOfATextAgent(t *testing.T) {
	trace := &wiretest.Trace{}
	llm := script(reply("Thought: I shall load it.\nAction: skill_load\nAction Input: {\"skill\": \"pdf\"}"), reply("what?"), reply("Final Answer: done"))
	a := install(t, runtime(t, satchel.WithTrace(trace)), llm, nil)
	agent := agents.NewOneShotAgent(a.Model(), a.Tools())
	ex := agents.NewExecutor(a.Agent(agent), agents.WithMaxIterations(5), agents.WithParserErrorHandler(agents.NewParserErrorHandler(nil)))
	if _, err := ex.Call(satchel.WithSession(t.Context(), "s"), map[string]any{"input": "read it"}); err != nil {
		t.Fatal(err)
	}
	all := trace.Exchanges(t)
	if len(all) != 3 {
		t.Fatalf("the trace has %d exchanges, want 3", len(all))
	}
	for i := range all {
		got, want := all[i].Request.Messages, llm.sent[i].messages
		if len(got) != 1 || got[0].Role != core.User || got[0].Text != joinText(want[0].Parts) || len(all[i].Request.Tools) != 0 {
			t.Errorf("request %d is traced as %+v, want %+v", i, got, want)
		}
	}
	var texts []string
	for _, p := range all[1].Request.View.Texts {
		texts = append(texts, p.Skill+": "+all[1].Request.Messages[p.Message].Text[p.Start:p.End])
	}
	if len(texts) != 2 || !strings.Contains(texts[0], "Fill PDF forms.") || !strings.HasPrefix(texts[1], "pdf: ") || !strings.Contains(texts[1], "PDF BODY") {
		t.Errorf("the second request is traced with the texts %q", texts)
	}
	if calls := all[0].Answer.Calls; len(calls) != 1 || calls[0].ID != "call_0" || calls[0].Name != "skill_load" {
		t.Errorf("the first answer is traced with the calls %+v", calls)
	}
	if all[1].Answer.Calls != nil || all[1].Answer.Text != "what?" || all[2].Answer.Text != "Final Answer: done" {
		t.Errorf("the later answers are traced as %+v and %+v", all[1].Answer, all[2].Answer)
	}
}

func TestTraceOfAFork(t *testing.T) {
	trace := &wiretest.Trace{}
	llm := script(reply("", call("1", "skill_load", `{"skill":"report"}`)), reply("THE REPORT"), reply("done"))
	rt := runtime(t, satchel.WithSkillFS("forks", forkSkills), satchel.WithFork(satchel.Fork{Run: Fork(nil)}), satchel.WithTrace(trace))
	if _, err := chains.Run(satchel.WithSession(t.Context(), "s"), executor(install(t, rt, llm, nil)), "report, please"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range trace.Exchanges(t) {
		got = append(got, e.Request.Key.Agent+" "+e.Answer.Text)
	}
	if want := []string{"agent ", "agent/fork:report#1 THE REPORT", "agent done"}; !slices.Equal(got, want) {
		t.Errorf("the trace is %q, want %q", got, want)
	}
}

// An agent that is not decorated is traced as it sends its requests, in a session of its own for each.
func TestTraceOfAnUndecoratedAgent(t *testing.T) {
	trace := &wiretest.Trace{}
	llm := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("done"))
	a := install(t, runtime(t, satchel.WithTrace(trace)), llm, nil)
	ex := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(a.Model(), a.Tools()))
	if _, err := chains.Run(satchel.WithSession(t.Context(), "s"), ex, "go"); err != nil {
		t.Fatal(err)
	}
	all := trace.Exchanges(t)
	if len(all) != 2 {
		t.Fatalf("the trace has %d exchanges, want 2", len(all))
	}
	for i := range all {
		if diff := differ(lines(llm.sent[i].messages), tracedLines(all[i].Request.Messages)); diff != "" {
			t.Errorf("request %d (-sent +traced):\n%s", i, diff)
		}
	}
}

// tracedLines renders the messages of a trace as [lines] does those of a request.
func tracedLines(messages []core.Message) []string {
	var as []llms.MessageContent
	roles := map[core.Role]llms.ChatMessageType{core.System: llms.ChatMessageTypeSystem, core.User: llms.ChatMessageTypeHuman,
		core.Assistant: llms.ChatMessageTypeAI, core.ToolResult: llms.ChatMessageTypeTool}
	for _, m := range messages {
		one := llms.MessageContent{Role: roles[m.Role]}
		switch {
		case m.Role == core.ToolResult:
			one.Parts = append(one.Parts, llms.ToolCallResponse{ToolCallID: m.CallID, Name: m.Tool, Content: m.Text})
		case m.Text != "":
			one.Parts = append(one.Parts, llms.TextContent{Text: m.Text})
		}
		for _, c := range m.Calls {
			one.Parts = append(one.Parts, call(c.ID, c.Name, c.Arguments))
		}
		as = append(as, one)
	}
	return lines(as)
}

// The texts of a view are found where the client gets them. Its messages may be split, joined and moved, and an agent
// that works in text gets one prompt.
func TestPlaceTexts(t *testing.T) {
	view := []core.Message{
		{Role: core.System, Text: "host"},
		{Role: core.System, Text: "overview"},
		{Role: core.User, Text: "q"},
		{Role: core.Assistant, Text: "hm"},
		{Role: core.ToolResult, Text: "receipt\nBODY", CallID: "1"},
		{Role: core.ToolResult, Text: "receipt\nBODY", CallID: "2"},
	}
	texts := []core.PlacedText{{Message: 1, End: len("overview")}, {Skill: "a", Message: 4, Start: 8, End: 12}, {Skill: "b", Message: 5, Start: 8, End: 12}}
	text := func(role llms.ChatMessageType, text string) llms.MessageContent { return llms.TextParts(role, text) }
	result := func(id string) llms.ContentPart {
		return llms.ToolCallResponse{ToolCallID: id, Content: "receipt\nBODY"}
	}
	plain := []llms.MessageContent{
		text(llms.ChatMessageTypeSystem, "host"), text(llms.ChatMessageTypeSystem, "overview"), text(llms.ChatMessageTypeHuman, "q"),
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextContent{Text: "hm"}, call("1", "x", "{}"), call("2", "x", "{}")}},
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result("1")}}, {Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result("2")}},
	}
	prompt := []llms.MessageContent{text(llms.ChatMessageTypeHuman, "overview\n\nAnswer.\nObservation: receipt\nBODY\nObservation: receipt\nBODY\nThought:")}
	for name, tc := range map[string]struct {
		sent []llms.MessageContent
		want [3][2]int // message and start
	}{
		"openai":  {openAI.shape(plain), [3][2]int{{1, 0}, {4, 8}, {5, 8}}},
		"claude":  {claude.shape(plain), [3][2]int{{1, 2}, {6, 8}, {7, 8}}},
		"google":  {google.shape(plain), [3][2]int{{0, 4}, {3, 8}, {4, 8}}},
		"bedrock": {bedrock.shape(plain), [3][2]int{{1, 2}, {4, 8}, {5, 8}}},
		"prompt":  {prompt, [3][2]int{{0, 0}, {0, 39}, {0, 65}}},
	} {
		t.Run(name, func(t *testing.T) {
			sent, _ := sentMessages(tc.sent)
			got := placeTexts(texts, view, sent)
			if len(got) != len(tc.want) {
				t.Fatalf("%d texts are placed, want %d: %+v", len(got), len(tc.want), got)
			}
			for i, p := range got {
				if at := [2]int{p.Message, p.Start}; at != tc.want[i] || p.Skill != texts[i].Skill {
					t.Errorf("text %d stands at %v, want %v", i, at, tc.want[i])
				}
				if shown := sent[p.Message].Text[p.Start:p.End]; !strings.HasSuffix(view[texts[i].Message].Text, shown) {
					t.Errorf("text %d is %q", i, shown)
				}
			}
		})
	}
	if got := placeTexts(texts, view, []core.Message{{Text: "none"}}); len(got) > 0 {
		t.Errorf("texts that are not sent are placed at %+v", got)
	}
}
