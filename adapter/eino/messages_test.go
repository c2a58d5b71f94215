package eino

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

func textPart(text string) schema.MessageInputPart {
	return schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: text}
}

func imagePart(url string) schema.MessageInputPart {
	return schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL,
		Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}}}
}

func toolCall(id, name, args string) schema.ToolCall {
	return schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: name, Arguments: args}}
}

func TestRefer(t *testing.T) {
	input := []*schema.Message{
		schema.SystemMessage("be {brief}"),
		nil,
		{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{textPart("look "), imagePart("u"), textPart("here")}},
		{Role: schema.User, MultiContent: []schema.ChatMessagePart{{Type: schema.ChatMessagePartTypeText, Text: "old"}}},
		{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{imagePart("u")}},
		{Role: schema.Assistant, Content: "on it", ToolCalls: []schema.ToolCall{toolCall("1", "a", "{}"), toolCall("2", "b", "x")}},
		schema.ToolMessage("A", "1", schema.WithToolName("a")),
		{Role: schema.Tool, ToolCallID: "2", UserInputMultiContent: []schema.MessageInputPart{textPart("B")}},
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{toolCall("", "c", "")}},
		schema.UserMessage("For context: [other] said: hello."),
		{Role: "developer", Content: "dev"},
		{Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText, Text: "gen"}}},
	}
	want := []core.Message{
		{Role: core.System, Text: "be {brief}", Origin: 0},
		{Role: core.User, Text: "look here", Origin: 2},
		{Role: core.User, Text: "old", Origin: 3},
		{Role: core.User, Text: "", Origin: 4},
		{Role: core.Assistant, Text: "on it", Origin: 5, Calls: []core.ToolCall{{ID: "1", Name: "a", Arguments: "{}"}, {ID: "2", Name: "b", Arguments: "x"}}},
		{Role: core.ToolResult, Text: "A", CallID: "1", Tool: "a", Origin: 6},
		{Role: core.ToolResult, Text: "B", CallID: "2", Origin: 7},
		{Role: core.Assistant, Origin: 8, Calls: []core.ToolCall{{Name: "c"}}},
		{Role: core.User, Text: "For context: [other] said: hello.", Rewritten: true, Origin: 9},
		{Role: core.System, Text: "dev", Origin: 10},
		{Role: core.Assistant, Text: "gen", Origin: 11},
	}
	got := coreMessages(input, isEinoRewrite)
	for i := range got {
		if len(got[i].Calls) == 0 {
			got[i].Calls = nil
		}
	}
	same(t, "refer", want, got)
}

func TestReferKeepsCallsApart(t *testing.T) {
	got := coreMessages([]*schema.Message{
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{toolCall("1", "a", "")}},
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{toolCall("2", "b", "")}},
	}, isEinoRewrite)
	_ = append(got[0].Calls, core.ToolCall{Name: "intruder"})
	if name := got[1].Calls[0].Name; name != "b" {
		t.Errorf("call of the second message is %q after an append to the first's, want b", name)
	}
}

func TestIsRewritten(t *testing.T) {
	for text, want := range map[string]bool{
		"For context:":                  true,
		"For context: [a] said: hello.": true,
		"For context: [a] called tool: `x` with arguments: {}.":              true,
		"For context: [a b] `x` tool returned result: done.":                 true,
		"For context: [a] said: x. [a] called tool: `y` with arguments: {}.": true,
		"For context: [bob] said: the build is red. What now?":               false,
		"For context: I am new here":                                         false,
		"For context: see [1] for more":                                      false,
		"For context: [1] is a footnote":                                     false,
		"for context: [a] said: hello.":                                      false,
		"hello [a] said: For context:":                                       false,
		"":                                                                   false,
		"For context: I heard that [a] said: nothing of the sort. ":          false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := isEinoRewrite(schema.UserMessage(text)); got != want {
				t.Errorf("isEinoRewrite(%q) = %t, want %t", text, got, want)
			}
		})
	}
}

func TestRender(t *testing.T) {
	parts := append(make([]schema.MessageInputPart, 0, 4), imagePart("u"))
	old := append(make([]schema.ChatMessagePart, 0, 4), schema.ChatMessagePart{Type: schema.ChatMessagePartTypeText, Text: "old"})
	input := []*schema.Message{
		schema.SystemMessage("system"),
		schema.UserMessage("untouched"),
		{Role: schema.User, UserInputMultiContent: parts},
		{Role: schema.User, MultiContent: old},
		{Role: schema.Tool, ToolCallID: "7", ToolName: "t", Content: "stub", Extra: map[string]any{"k": "v"}},
	}
	before := copied(input)
	view := []core.Message{
		{Role: core.System, Text: "system+S", Added: "+S", Origin: 0},
		{Role: core.System, Text: "inserted", Origin: core.Inserted},
		{Role: core.User, Text: "untouched", Origin: 1},
		{Role: core.User, Text: "+P", Added: "+P", Origin: 2},
		{Role: core.User, Text: "old+M", Added: "+M", Origin: 3},
		{Role: core.ToolResult, Text: "stub+B", Added: "+B", Origin: 4},
	}
	got := render(input, view)
	want := []*schema.Message{
		schema.SystemMessage("system+S"),
		schema.SystemMessage("inserted"),
		schema.UserMessage("untouched"),
		{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{imagePart("u"), textPart("+P")}},
		{Role: schema.User, MultiContent: []schema.ChatMessagePart{{Type: schema.ChatMessagePartTypeText, Text: "old"}, {Type: schema.ChatMessagePartTypeText, Text: "+M"}}},
		{Role: schema.Tool, ToolCallID: "7", ToolName: "t", Content: "stub+B", Extra: map[string]any{"k": "v"}},
	}
	same(t, "render", want, got)
	same(t, "render changed its input", before, input)
	if got[2] != input[1] {
		t.Error("an untouched message was copied, want the framework's own")
	}
	if p := parts[:2][1].Text; p != "" {
		t.Errorf("spare room of the host's parts holds %q, want nothing", p)
	}
	if p := old[:2][1].Text; p != "" {
		t.Errorf("spare room of the host's old parts holds %q, want nothing", p)
	}
}

// same fails unless got is deeply equal to want.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if reflect.DeepEqual(want, got) {
		return
	}
	w, _ := json.MarshalIndent(want, "", " ")
	g, _ := json.MarshalIndent(got, "", " ")
	t.Errorf("%s: want %s\ngot %s", what, w, g)
}

func copied(in []*schema.Message) []*schema.Message {
	out := make([]*schema.Message, 0, len(in))
	for _, m := range in {
		c := *m
		out = append(out, &c)
	}
	return out
}

// FuzzRefer checks on any text that nothing but marked messages counts as
// rewritten and that parts are joined in order.
func FuzzRefer(f *testing.F) {
	f.Add("For context: [a] said: x.", "tail")
	f.Add("For context:", "")
	f.Add("hello", "{{ . }}")
	f.Fuzz(func(t *testing.T, first, second string) {
		got := coreMessages([]*schema.Message{
			schema.UserMessage(first),
			{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{textPart(first), imagePart("u"), textPart(second)}},
		}, isEinoRewrite)
		if got[0].Text != first || got[1].Text != first+second {
			t.Fatalf("texts are %q and %q, want %q and %q", got[0].Text, got[1].Text, first, first+second)
		}
		if got[0].Rewritten && first[:len("For context:")] != "For context:" {
			t.Fatalf("%q counts as rewritten", first)
		}
		if got[1].Rewritten {
			t.Fatal("a message of parts counts as rewritten")
		}
	})
}
