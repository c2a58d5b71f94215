package langchaingo

import (
	"fmt"
	"math/rand/v2"
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
	if diff := differ(want, new(scratch).coreMessages(msgs)); diff != "" {
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
	view := new(scratch).coreMessages(msgs)
	for i := range view {
		if i != 2 {
			view[i].Added = "+"
			view[i].Text += "+"
		}
	}
	view = append(view[:1:1], append([]core.Message{{Role: core.System, Text: "new", Origin: core.Inserted}}, view[1:]...)...)
	got := applyView(msgs, view)
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
}

func TestApplyKeepsTheOrderOfTheView(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var msgs []llms.MessageContent
		for i := range random.IntN(12) {
			msgs = append(msgs, human(fmt.Sprint(i)))
		}
		var view []core.Message
		var want []string
		for _, m := range new(scratch).coreMessages(msgs) {
			if random.IntN(6) == 0 {
				view = append(view, core.Message{Role: core.System, Text: "new", Origin: core.Inserted})
				want = append(want, "new")
			}
			switch random.IntN(4) {
			case 0:
				m.Added, m.Text = "+", m.Text+"+"
			case 1:
				continue // the view leaves this message out
			}
			view, want = append(view, m), append(want, m.Text)
		}
		var got []string
		for _, m := range applyView(msgs, view) {
			got = append(got, joinText(m.Parts))
		}
		if diff := differ(want, got); diff != "" {
			t.Fatalf("apply of %+v (-want +got):\n%s", view, diff)
		}
	}
}
