package eino

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// BenchmarkAdapter measures what the adapter itself adds to a model call with 60 messages, 4 of
// which the view edits. The limit is 10 µs.
func BenchmarkAdapter(b *testing.B) {
	input := []*schema.Message{schema.SystemMessage(strings.Repeat("s", 2000))}
	for i := 0; len(input) < 60; i++ {
		id := fmt.Sprint(i)
		input = append(input, schema.UserMessage(strings.Repeat("u", 200)),
			schema.AssistantMessage("", []schema.ToolCall{toolCall("a"+id, "a", "{}"), toolCall("b"+id, "b", "{}")}),
			schema.ToolMessage(strings.Repeat("t", 500), "a"+id, schema.WithToolName("a")),
			schema.ToolMessage(strings.Repeat("t", 500), "b"+id, schema.WithToolName("b")))
	}
	input = input[:60]
	added := strings.Repeat("x", 4000)
	edits := make([]string, len(input))
	for _, i := range []int{0, 12, 30, 48} {
		edits[i] = input[i].Content + added
	}
	b.ReportAllocs()
	for b.Loop() {
		if out := repairHistory(input); &out[0] != &input[0] {
			b.Fatal("repaired what is complete")
		}
		view := coreMessages(input, isEinoRewrite)
		if attachedFiles(input, view) != nil {
			b.Fatal("found a file")
		}
		for i := range view {
			if text := edits[view[i].Origin]; text != "" {
				view[i].Text, view[i].Added = text, text[len(text)-len(added):]
			}
		}
		if out := render(input, view); len(out) != 60 {
			b.Fatal("lost a message")
		}
	}
}
