package eino

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// described lists files as "id|name|type|content".
func described(t *testing.T, files []core.File) []string {
	t.Helper()
	var out []string
	for _, f := range files {
		content := "-"
		if f.Data != nil {
			data, err := f.Data()
			if content = string(data); err != nil {
				content = "error"
			}
		}
		out = append(out, strings.Join([]string{f.ID, f.Name, f.MIME, content}, "|"))
	}
	return out
}

func TestAttached(t *testing.T) {
	at := func(s string) schema.MessagePartCommon { return schema.MessagePartCommon{URL: &s} }
	in64 := func(s, mime string) schema.MessagePartCommon {
		s = base64.StdEncoding.EncodeToString([]byte(s))
		return schema.MessagePartCommon{Base64Data: &s, MIMEType: mime}
	}
	part := func(kind schema.ChatMessagePartType, c schema.MessagePartCommon, name string) schema.MessageInputPart {
		p := schema.MessageInputPart{Type: kind}
		switch kind {
		case schema.ChatMessagePartTypeFileURL:
			p.File = &schema.MessageInputFile{MessagePartCommon: c, Name: name}
		case schema.ChatMessagePartTypeImageURL:
			p.Image = &schema.MessageInputImage{MessagePartCommon: c}
		case schema.ChatMessagePartTypeAudioURL:
			p.Audio = &schema.MessageInputAudio{MessagePartCommon: c}
		case schema.ChatMessagePartTypeVideoURL:
			p.Video = &schema.MessageInputVideo{MessagePartCommon: c}
		}
		return p
	}
	file, image := schema.ChatMessagePartTypeFileURL, schema.ChatMessagePartTypeImageURL
	audio, video := schema.ChatMessagePartTypeAudioURL, schema.ChatMessagePartTypeVideoURL
	user := func(parts ...schema.MessageInputPart) *schema.Message {
		return &schema.Message{Role: schema.User, UserInputMultiContent: parts}
	}
	both := in64("content", "")
	both.URL = at("https://e.com").URL
	dataURL := "data:text/csv;name=d.csv;base64,aGk="
	empty := ""
	for _, tt := range []struct {
		name    string
		message *schema.Message
		want    []string
	}{
		{"plain text", schema.UserMessage("data:text/csv,x"), nil},
		{"file", user(textPart("see"), part(file, in64("hi", "text/csv"), "a.csv")), []string{"|a.csv|text/csv|hi"}},
		{"data URL", user(part(file, at(dataURL), "")), []string{"|d.csv|text/csv|hi"}},
		{"data URL with name", user(part(file, at(dataURL), "n")), []string{"|n|text/csv|hi"}},
		{"data URL as base64", user(part(image, schema.MessagePartCommon{Base64Data: &dataURL}, "")), []string{"|d.csv|text/csv|hi"}},
		{"link", user(part(file, at("https://e.com/a"), "a.csv")), []string{"https://e.com/a|a.csv||-"}},
		{"image, audio, video", user(part(image, in64("i", "image/png"), ""), part(audio, in64("a", "audio/wav"), ""), part(video, at("https://e.com/v"), "")),
			[]string{"||image/png|i", "||audio/wav|a", "https://e.com/v|||-"}},
		{"both", user(part(image, both, "")), []string{"|||content"}},
		{"link beside nothing", user(part(image, schema.MessagePartCommon{Base64Data: &empty, URL: both.URL}, "")), []string{"https://e.com|||-"}},
		{"empty file", user(part(file, in64("", ""), "e")), []string{"|e||"}},
		{"broken", user(part(file, schema.MessagePartCommon{Base64Data: &[]string{"***"}[0]}, "b")), []string{"|b||error"}},
		{"nothing", user(part(file, schema.MessagePartCommon{}, "x"), schema.MessageInputPart{Type: file}, part(image, at(""), "")), nil},
		{"older form", &schema.Message{Role: schema.User, MultiContent: []schema.ChatMessagePart{
			{Type: schema.ChatMessagePartTypeText, Text: "old"},
			{Type: file, FileURL: &schema.ChatMessageFileURL{URI: "file-1", Name: "a.pdf", MIMEType: "application/pdf"}},
			{Type: image, ImageURL: &schema.ChatMessageImageURL{URL: "data:image/png;base64,aGk="}},
			{Type: audio, AudioURL: &schema.ChatMessageAudioURL{URL: "https://e.com/a"}},
			{Type: video, VideoURL: &schema.ChatMessageVideoURL{URI: "v", MIMEType: "video/mp4"}},
			{Type: image},
		}}, []string{"file-1|a.pdf|application/pdf|-", "||image/png|hi", "https://e.com/a|||-", "v||video/mp4|-"}},
		{"of a tool", &schema.Message{Role: schema.Tool, UserInputMultiContent: user(part(image, in64("i", ""), "")).UserInputMultiContent}, nil},
		{"of the assistant", &schema.Message{Role: schema.Assistant, UserInputMultiContent: user(part(image, in64("i", ""), "")).UserInputMultiContent}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			input := []*schema.Message{nil, schema.SystemMessage("s"), tt.message}
			same(t, "files", tt.want, described(t, attachedFiles(input, coreMessages(input, isEinoRewrite))))
		})
	}
	t.Run("in order", func(t *testing.T) {
		input := []*schema.Message{user(part(file, in64("1", ""), "a")), schema.AssistantMessage("ok", nil), user(part(file, in64("2", ""), "b"))}
		same(t, "files", []string{"|a||1", "|b||2"}, described(t, attachedFiles(input, coreMessages(input, isEinoRewrite))))
	})
}

// TestAttachedAllocatesNothing: a request without files is as cheap as ever.
func TestAttachedAllocatesNothing(t *testing.T) {
	var input []*schema.Message
	for i := range 60 {
		input = append(input, &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{textPart(fmt.Sprint(i))}})
	}
	refs := coreMessages(input, isEinoRewrite)
	if n := testing.AllocsPerRun(100, func() {
		if attachedFiles(input, refs) != nil {
			t.Error("there are files, want none")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
