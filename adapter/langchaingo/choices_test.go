package langchaingo

import (
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

func TestMerged(t *testing.T) {
	bare := func(name, args string) llms.ToolCall {
		return llms.ToolCall{FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
	}
	tests := []struct {
		name string
		in   []*llms.ContentChoice
		n    bool
		want []string // texts of the assistant messages
	}{
		{
			"one choice per content block",
			[]*llms.ContentChoice{{Content: "Let me look. "}, {ToolCalls: []llms.ToolCall{call("a", "x", "{}")}}, {ToolCalls: []llms.ToolCall{call("b", "y", `{"k":1}`)}}},
			false,
			[]string{"0 ai: Let me look. ", "0 ai: call a x {}", `0 ai: call b y {"k":1}`},
		},
		{
			"ids that are missing or repeat",
			[]*llms.ContentChoice{{ToolCalls: []llms.ToolCall{bare("x", "{}"), call("a", "y", "{}"), call("a", "z", "{}")}}},
			false,
			[]string{"0 ai: call call_4_0 x {}", "0 ai: call a y {}", "0 ai: call call_4_2 z {}"},
		},
		{
			"deprecated single call",
			[]*llms.ContentChoice{{FuncCall: &llms.FunctionCall{Name: "x", Arguments: "{}"}}},
			false,
			[]string{"0 ai: call call_4_0 x {}"},
		},
		{
			"fragments of streamed calls",
			[]*llms.ContentChoice{{ToolCalls: []llms.ToolCall{call("a", "x", ""), bare("", ""), bare("", `{"k"`), bare("", `:1}`), call("b", "y", `{"a`), call("b", "y", `":2}`)}}},
			false,
			[]string{`0 ai: call a x {"k":1}`, `0 ai: call b y {"a":2}`},
		},
		{
			"names of ours in any case",
			[]*llms.ContentChoice{{ToolCalls: []llms.ToolCall{call("a", " SKILL_load", "{}"), call("b", "Other", "{}")}}},
			false,
			[]string{"0 ai: call a skill_load {}", "0 ai: call b Other {}"},
		},
		{
			"alternatives stay apart",
			[]*llms.ContentChoice{{Content: "one"}, {Content: "two"}},
			true,
			[]string{"0 ai: one", "1 ai: two"},
		},
		{"a call of nothing", []*llms.ContentChoice{nil, {Content: "t", ToolCalls: []llms.ToolCall{{ID: "a"}}}}, false, []string{"0 ai: t"}},
	}
	o, err := newOffer([]core.Tool{{Name: "skill_load", Schema: []byte(`{"type":"object"}`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := &llms.ContentResponse{Choices: tt.in}
			before, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			got := o.merge(in, tt.n, 4, true)
			var msgs []llms.MessageContent
			for _, c := range got.Choices {
				msgs = append(msgs, assistantMessage(c))
				if (len(c.ToolCalls) > 0) != (c.FuncCall != nil) || c.FuncCall != nil && c.FuncCall != c.ToolCalls[0].FunctionCall {
					t.Errorf("FuncCall %v does not agree with %v", c.FuncCall, c.ToolCalls)
				}
			}
			if diff := differ(tt.want, lines(msgs)); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if after, _ := json.Marshal(in); string(after) != string(before) {
				t.Errorf("the client's response changed:\n%s\n%s", before, after)
			}
		})
	}
}

// The calls of a response that was not streamed are whole, whatever they look like.
func TestWholeCallsAreNotJoined(t *testing.T) {
	var o offer
	in := &llms.ContentResponse{Choices: []*llms.ContentChoice{{ToolCalls: []llms.ToolCall{call("x", "now", ""), call("x", "now", `{"at":1}`)}}}}
	got := lines([]llms.MessageContent{assistantMessage(o.merge(in, false, 0, false).Choices[0])})
	if diff := differ([]string{"0 ai: call x now {}", `0 ai: call call_0_1 now {"at":1}`}, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
}

func TestMergedKeepsInformation(t *testing.T) {
	in := &llms.ContentResponse{Choices: []*llms.ContentChoice{
		{GenerationInfo: map[string]any{"ThinkingContent": "hm", "InputTokens": 3}},
		{Content: "yes", StopReason: "end_turn", GenerationInfo: map[string]any{"ThinkingContent": "", "InputTokens": 3, "OutputTokens": 2}},
	}}
	var o offer
	got := o.merge(in, false, 0, true).Choices[0]
	want := map[string]any{"ThinkingContent": "hm", "InputTokens": 3, "OutputTokens": 2}
	if diff := differ(want, got.GenerationInfo); diff != "" || got.StopReason != "end_turn" {
		t.Errorf("information (-want +got):\n%s stop %q", diff, got.StopReason)
	}
	if len(in.Choices[0].GenerationInfo) != 2 || len(in.Choices[1].GenerationInfo) != 3 {
		t.Error("the client's response changed")
	}
}
