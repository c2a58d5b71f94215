package langchaingo

import (
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
)

func ai(parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts}
}

func result(parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: parts}
}

func human(text string) llms.MessageContent {
	return llms.TextParts(llms.ChatMessageTypeHuman, text)
}

func TestRepaired(t *testing.T) {
	tests := []struct {
		name string
		in   []llms.MessageContent
		want []string
	}{
		{
			"arguments that are no object are wrapped again",
			[]llms.MessageContent{ai(call("a", "x", "1+1"), call("b", "x", ""), call("c", "x", `["<a>"]`), call("d", "x", `{"k":1}`), call("e", "x", `{"cut`))},
			[]string{
				`0 ai: call a x {"__arg1":"1+1"}`, `0 ai: call b x {}`, `0 ai: call c x {"__arg1":"[\"<a>\"]"}`,
				`0 ai: call d x {"k":1}`, `0 ai: call e x {"__arg1":"{\"cut"}`,
			},
		},
		{
			"names come from the call",
			[]llms.MessageContent{
				ai(call("a", "x", "{}"), call("b", "y", "{}")),
				result(llms.ToolCallResponse{ToolCallID: "b", Content: "2"}),
				result(llms.ToolCallResponse{ToolCallID: "a", Content: "1"}),
			},
			[]string{"0 ai: call a x {}", "0 ai: call b y {}", "1 tool: result b y 2", "2 tool: result a x 1"},
		},
		{
			"missing and repeated ids are made, and results follow in order",
			[]llms.MessageContent{
				human("q"),
				ai(llms.TextContent{Text: "first"}),
				ai(call("", "x", "{}"), call("1", "y", "{}"), call("1", "z", "{}")),
				result(llms.ToolCallResponse{Content: "rx"}),
				result(llms.ToolCallResponse{ToolCallID: "1", Content: "ry"}),
				result(llms.ToolCallResponse{Content: "rz"}),
			},
			[]string{
				"0 human: q", "1 ai: first", "2 ai: call call_1_0 x {}", "2 ai: call 1 y {}", "2 ai: call call_1_2 z {}",
				"3 tool: result call_1_0 x rx", "4 tool: result 1 y ry", "5 tool: result call_1_2 z rz",
			},
		},
		{
			"a made id avoids one that is taken",
			[]llms.MessageContent{ai(call("call_0_1", "x", "{}"), call("", "y", "{}"))},
			[]string{"0 ai: call call_0_1 x {}", "0 ai: call call_0_1_1 y {}"},
		},
		{
			"one message per result",
			[]llms.MessageContent{
				ai(call("a", "x", "{}"), call("b", "y", "{}")),
				result(llms.ToolCallResponse{ToolCallID: "a", Content: "1"}, llms.ToolCallResponse{ToolCallID: "b", Content: "2"}),
			},
			[]string{"0 ai: call a x {}", "0 ai: call b y {}", "1 tool: result a x 1", "2 tool: result b y 2"},
		},
		{
			"a result without a call stays",
			[]llms.MessageContent{result(llms.ToolCallResponse{ToolCallID: "z", Content: "1"})},
			[]string{"0 tool: result z  1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := deepCopy(tt.in)
			got := repairMessages(tt.in)
			if diff := differ(tt.want, lines(got)); diff != "" {
				t.Errorf("repaired (-want +got):\n%s", diff)
			}
			if diff := differ(before, tt.in); diff != "" {
				t.Errorf("the caller's messages changed:\n%s", diff)
			}
			if diff := differ(lines(got), lines(repairMessages(got))); diff != "" {
				t.Errorf("repairing twice changes something:\n%s", diff)
			}
		})
	}
}

func TestRepairedCopiesWhatItChanges(t *testing.T) {
	sound := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "sys"), human("q"),
		ai(llms.TextContent{Text: "hm"}, call("1", "x", `{"k": [1]}`), call("2", "y", "{}")),
		result(llms.ToolCallResponse{ToolCallID: "2", Name: "y", Content: "ry"}),
		result(llms.ToolCallResponse{ToolCallID: "1", Name: "x", Content: "rx"}),
		ai(llms.TextContent{Text: "done"}),
	}
	if got := repairMessages(sound); &got[0] != &sound[0] || len(got) != len(sound) {
		t.Error("messages that need no repair were copied")
	}
	if n := testing.AllocsPerRun(100, func() { repairMessages(sound) }); n != 0 {
		t.Errorf("%v allocations for messages that need no repair", n)
	}
	flawed := append(deepCopy(sound), human("again"), ai(call("", "x", "{}")), human("more"))
	got := repairMessages(flawed)
	for i := range got {
		if shared := &got[i].Parts[0] == &flawed[i].Parts[0]; shared == (i == 7) {
			t.Errorf("message %d is shared: %v", i, shared)
		}
	}
}

func FuzzObjectArguments(f *testing.F) {
	for _, s := range []string{"", " ", "{}", `{"a":`, "pdf", `{"__arg1":"x"}`, "\xff<&>", "null", "{} {}", "{}\u00a0", " {}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got := objectArguments(args)
		var object map[string]any
		if err := json.Unmarshal([]byte(got), &object); err != nil {
			t.Fatalf("objectArguments(%q) = %q: %v", args, got, err)
		}
		if again := objectArguments(got); again != got {
			t.Fatalf("objectArguments(%q) = %q, then %q", args, got, again)
		}
	})
}

func TestToldStaysWithTheAgentWhenItDisagrees(t *testing.T) {
	msgs := []llms.MessageContent{
		human("q"),
		ai(call("1", "x", "raw")),
		result(llms.ToolCallResponse{ToolCallID: "1", Content: "r"}),
	}
	told := func(steps []schema.AgentStep, responses ...response) ([]llms.MessageContent, int) {
		r := &run{steps: steps, responses: responses}
		return r.transcript(), len(steps)
	}
	happened, n := told(nil)
	if got, _ := splitScratchpad(msgs, happened, n); len(got) != 3 || &got[0] != &msgs[0] {
		t.Errorf("scratchpad without steps = %v", lines(got))
	}
	other := response{stepsBefore: 0, calls: coreCalls(reply("", call("2", "x", "{}")).Choices[0])}
	happened, n = told(steps("x", "1", "r"), other)
	if got, account := splitScratchpad(msgs, happened, n); len(got) != 3 || account != nil {
		t.Errorf("scratchpad with another response = %v", lines(got))
	}
}
