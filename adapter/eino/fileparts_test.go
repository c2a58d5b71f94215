package eino

import (
	"testing"

	"github.com/cloudwego/eino/schema"
)

func TestWithoutFileParts(t *testing.T) {
	file := schema.MessageInputPart{Type: schema.ChatMessagePartTypeFileURL}
	text := schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: "sum it up"}
	image := schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL}
	original := &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{text, file, image}}
	alone := &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{file}}
	plain := schema.UserMessage("hello")
	older := &schema.Message{Role: schema.User, MultiContent: []schema.ChatMessagePart{
		{Type: schema.ChatMessagePartTypeText, Text: "and this"}, {Type: schema.ChatMessagePartTypeFileURL},
	}}
	out := withoutFiles([]*schema.Message{original, alone, plain, older})
	if parts := out[0].UserInputMultiContent; len(parts) != 2 || parts[0].Text != text.Text || parts[1].Type != image.Type {
		t.Errorf("parts %+v", parts)
	}
	if len(original.UserInputMultiContent) != 3 || out[2] != plain {
		t.Error("the caller's messages have changed")
	}
	if parts := out[3].MultiContent; len(parts) != 1 || parts[0].Text != "and this" || len(older.MultiContent) != 2 {
		t.Errorf("parts of the older form %+v of %+v", parts, older.MultiContent)
	}
	if out[1].Content == "" || len(out[1].UserInputMultiContent) != 0 {
		t.Errorf("a message of files alone became %+v", out[1])
	}
}
