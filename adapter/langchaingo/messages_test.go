package langchaingo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

func TestRefer(t *testing.T) {
	msgs := []llms.MessageContent{
		{Role: llms.ChatMessageTypeSystem, Parts: []llms.ContentPart{llms.WithCacheControl(llms.TextContent{Text: "sys"}, &llms.CacheControl{})}},
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "a"}, llms.BinaryPart("x/y", nil), llms.TextContent{Text: "b"}}},
		ai(llms.TextContent{Text: "hm"}, call("1", "x", "{}"), call("2", "y", "{}")),
		result(llms.ToolCallResponse{ToolCallID: "1", Name: "x", Content: "r"}),
		{Role: llms.ChatMessageTypeGeneric, Parts: []llms.ContentPart{llms.ImageURLPart("u")}},
		{Role: llms.ChatMessageTypeFunction},
	}
	want := []core.Message{
		{Role: core.System, Text: "sys", Origin: 0},
		{Role: core.User, Text: "ab", Origin: 1},
		{Role: core.Assistant, Text: "hm", Origin: 2, Calls: []core.ToolCall{{ID: "1", Name: "x", Arguments: "{}"}, {ID: "2", Name: "y", Arguments: "{}"}}},
		{Role: core.ToolResult, Text: "r", CallID: "1", Tool: "x", Origin: 3},
		{Role: core.User, Origin: 4},
		{Role: core.ToolResult, Origin: 5},
	}
	if diff := differ(want, refer(msgs)); diff != "" {
		t.Errorf("refer (-want +got):\n%s", diff)
	}
}

func TestApply(t *testing.T) {
	image := llms.ImageURLPart("u")
	cached := llms.WithCacheControl(llms.TextContent{Text: "sys"}, &llms.CacheControl{})
	msgs := []llms.MessageContent{
		{Role: llms.ChatMessageTypeSystem, Parts: []llms.ContentPart{cached}},
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "a"}, image}},
		human("plain"),
		result(llms.ToolCallResponse{ToolCallID: "1", Name: "x", Content: "r"}),
	}
	before := deepCopy(msgs)
	view := refer(msgs)
	for i := range view {
		if i != 2 {
			view[i].Added = "+"
			view[i].Text += "+"
		}
	}
	view = append(view[:1:1], append([]core.Message{{Role: core.System, Text: "new", Origin: core.Inserted}}, view[1:]...)...)
	got := apply(msgs, view)
	want := []llms.MessageContent{
		{Role: llms.ChatMessageTypeSystem, Parts: []llms.ContentPart{cached, llms.TextContent{Text: "+"}}},
		llms.TextParts(llms.ChatMessageTypeSystem, "new"),
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "a"}, image, llms.TextContent{Text: "+"}}},
		human("plain"),
		result(llms.ToolCallResponse{ToolCallID: "1", Name: "x", Content: "r+"}),
	}
	if diff := differ(want, got); diff != "" {
		t.Errorf("apply (-want +got):\n%s", diff)
	}
	if &got[3].Parts[0] != &msgs[2].Parts[0] {
		t.Error("a message that the view leaves alone was copied")
	}
	if diff := differ(before, msgs); diff != "" {
		t.Errorf("the caller's messages changed:\n%s", diff)
	}
	for role, want := range map[core.Role]llms.ChatMessageType{core.User: "human", core.Assistant: "ai", core.ToolResult: "tool", core.System: "system"} {
		if got := typeOf(role); got != want {
			t.Errorf("typeOf(%v) = %s", role, got)
		}
	}
}

// conversation60 is a request of 60 messages with calls.
func conversation60() []llms.MessageContent {
	msgs := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, strings.Repeat("sys ", 200)), human("question")}
	for i := 0; len(msgs) < 60; i++ {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs, ai(llms.TextContent{Text: "thinking"}, call(id, "skill_load", `{"skill":"pdf"}`)),
			result(llms.ToolCallResponse{ToolCallID: id, Name: "skill_load", Content: strings.Repeat("result ", 100)}))
	}
	return msgs
}

func BenchmarkReferApply(b *testing.B) {
	msgs := conversation60()
	b.ReportAllocs()
	for b.Loop() {
		view := refer(msgs)
		if attached(msgs, view) != nil {
			b.Fatal("found a file")
		}
		for _, i := range []int{0, 3, 31, 59} {
			view[i].Added, view[i].Text = "added", "text with added"
		}
		if len(apply(msgs, view)) != 60 {
			b.Fatal("messages are lost")
		}
	}
}

func BenchmarkRepair(b *testing.B) {
	msgs := conversation60()
	b.ReportAllocs()
	for b.Loop() {
		if len(repaired(msgs)) != 60 {
			b.Fatal("messages are lost")
		}
	}
}
