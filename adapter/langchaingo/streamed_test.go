package langchaingo

import (
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/llms"
)

// The calls of a stream stay distinct whatever ids the service gives them, and deltas that
// repeat id and name are joined.
func TestStreamedCalls(t *testing.T) {
	d := func(id, name, args string) callDelta {
		one := callDelta{ID: id, Type: "function"}
		one.Function.Name, one.Function.Arguments = name, args
		return one
	}
	for _, tt := range []struct {
		name   string
		deltas []callDelta
		want   []string
	}{
		{"as OpenAI streams", []callDelta{d("a", "x", ""), d("", "", `{"k"`), d("", "", `:1}`), d("b", "y", ""), d("", "", "{}")}, []string{`a x {"k":1}`, "b y {}"}},
		{"one id, the first without arguments", []callDelta{d("a", "x", ""), d("a", "x", ""), d("", "", `{"k"`), d("", "", `:1}`)}, []string{"a x ", `a x {"k":1}`}},
		{"one id, none with arguments", []callDelta{d("a", "x", ""), d("a", "x", "")}, []string{"a x ", "a x "}},
		{"one id, two names", []callDelta{d("a", "x", ""), d("a", "y", `{}`)}, []string{"a x ", "a y {}"}},
		{"one id, each in one piece", []callDelta{d("a", "x", `{"k":1}`), d("a", "x", `{"k":2}`)}, []string{`a x {"k":1}`, `a x {"k":2}`}},
		{"no ids", []callDelta{d("", "x", ""), d("", "", "{}"), d("", "x", ""), d("", "x", "{}")}, []string{" x {}", " x ", " x {}"}},
		{"id and name in each delta", []callDelta{d("a", "x", ""), d("a", "x", `{"k"`), d("a", "x", ""), d("a", "x", `:1}`), d("b", "y", "{}")}, []string{`a x {"k":1}`, "b y {}"}},
		{"ids alone in each delta", []callDelta{d("a", "x", ""), d("a", "", `{"k"`), d("a", "", `:1}`), d("b", "", "{}")}, []string{`a x {"k":1}`, "b  {}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := streamedCalls{isStreamed: true}
			for _, one := range tt.deltas {
				chunk, err := json.Marshal([]callDelta{one})
				if err != nil || !isCallDelta(chunk) {
					t.Fatalf("%s is no delta, %v", chunk, err)
				}
				s.add(chunk)
			}
			client := &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "text"}}}
			resp, fragments := s.restore(client)
			var got []string
			for _, c := range resp.Choices[0].ToolCalls {
				got = append(got, c.ID+" "+c.FunctionCall.Name+" "+c.FunctionCall.Arguments)
			}
			if diff := differ(tt.want, got); diff != "" || fragments || resp.Choices[0].Content != "text" {
				t.Errorf("calls (-want +got):\n%s, fragments %v", diff, fragments)
			}
			if client.Choices[0].ToolCalls != nil {
				t.Error("the client's response changed")
			}
		})
	}
}
