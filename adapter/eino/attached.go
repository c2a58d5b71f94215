package eino

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// attachedFiles lists the files, pictures, audio and video that users attached to their
// messages. It decodes and fetches nothing: a URL other than data: becomes the ID of the file.
func attachedFiles(input []*schema.Message, refs []core.Message) []core.File {
	var files []core.File
	for i := range refs {
		if refs[i].Role != core.User || refs[i].Rewritten {
			continue
		}
		m := input[refs[i].Origin]
		for j := range m.UserInputMultiContent {
			if f, ok := inputFile(&m.UserInputMultiContent[j]); ok {
				f.Origin = refs[i].Origin
				files = append(files, f)
			}
		}
		if len(m.UserInputMultiContent) > 0 {
			continue // textOf too ignores MultiContent then
		}
		for j := range m.MultiContent {
			if f, ok := chatFile(&m.MultiContent[j]); ok {
				f.Origin = refs[i].Origin
				files = append(files, f)
			}
		}
	}
	return files
}

// sentFiles lists the parts of all messages that are no text, for a tracer. Of the kinds of parts of a message it takes
// the one that [textOf] takes. Messages are counted without those that are nil.
func sentFiles(sent []*schema.Message) []core.File {
	var files []core.File
	at := 0
	for _, m := range sent {
		if m == nil {
			continue
		}
		add := func(kind schema.ChatMessagePartType, f core.File, ok bool) {
			if ok {
				f.Origin, f.MIME = at, cmp.Or(f.MIME, kindTypes[kind])
				files = append(files, f)
			}
		}
		switch {
		case len(m.UserInputMultiContent) > 0:
			for i := range m.UserInputMultiContent {
				f, ok := inputFile(&m.UserInputMultiContent[i])
				add(m.UserInputMultiContent[i].Type, f, ok)
			}
		case len(m.MultiContent) > 0:
			for i := range m.MultiContent {
				f, ok := chatFile(&m.MultiContent[i])
				add(m.MultiContent[i].Type, f, ok)
			}
		default:
			for i := range m.AssistantGenMultiContent {
				f, ok := outputFile(&m.AssistantGenMultiContent[i])
				add(m.AssistantGenMultiContent[i].Type, f, ok)
			}
		}
		at++
	}
	return files
}

// kindTypes are media types for parts that have none.
var kindTypes = map[schema.ChatMessagePartType]string{
	schema.ChatMessagePartTypeImageURL: "image/*", schema.ChatMessagePartTypeAudioURL: "audio/*", schema.ChatMessagePartTypeVideoURL: "video/*",
}

// outputFile returns the file of a part that a model has made, or false for a part of another type.
func outputFile(p *schema.MessageOutputPart) (core.File, bool) {
	switch {
	case p.Type == schema.ChatMessagePartTypeImageURL && p.Image != nil:
		return contentFile(&p.Image.MessagePartCommon, "")
	case p.Type == schema.ChatMessagePartTypeAudioURL && p.Audio != nil:
		return contentFile(&p.Audio.MessagePartCommon, "")
	case p.Type == schema.ChatMessagePartTypeVideoURL && p.Video != nil:
		return contentFile(&p.Video.MessagePartCommon, "")
	}
	return core.File{}, false
}

// inputFile returns the file of a part, or false for a part of another type.
func inputFile(p *schema.MessageInputPart) (core.File, bool) {
	switch {
	case p.Type == schema.ChatMessagePartTypeFileURL && p.File != nil:
		return contentFile(&p.File.MessagePartCommon, p.File.Name)
	case p.Type == schema.ChatMessagePartTypeImageURL && p.Image != nil:
		return contentFile(&p.Image.MessagePartCommon, "")
	case p.Type == schema.ChatMessagePartTypeAudioURL && p.Audio != nil:
		return contentFile(&p.Audio.MessagePartCommon, "")
	case p.Type == schema.ChatMessagePartTypeVideoURL && p.Video != nil:
		return contentFile(&p.Video.MessagePartCommon, "")
	}
	return core.File{}, false
}

func contentFile(c *schema.MessagePartCommon, name string) (core.File, bool) {
	var f core.File
	switch {
	case c.URL != nil && *c.URL != "" && (c.Base64Data == nil || *c.Base64Data == ""):
		f.SetURL(*c.URL)
	case c.Base64Data != nil:
		f.SetBase64(*c.Base64Data)
	default:
		return core.File{}, false
	}
	return withName(f, name, c.MIMEType), true
}

// chatFile does the same as inputFile for Eino's older type of parts.
func chatFile(p *schema.ChatMessagePart) (core.File, bool) {
	var address, name, mime string
	switch {
	case p.Type == schema.ChatMessagePartTypeFileURL && p.FileURL != nil:
		address, name, mime = cmp.Or(p.FileURL.URL, p.FileURL.URI), p.FileURL.Name, p.FileURL.MIMEType
	case p.Type == schema.ChatMessagePartTypeImageURL && p.ImageURL != nil:
		address, mime = cmp.Or(p.ImageURL.URL, p.ImageURL.URI), p.ImageURL.MIMEType
	case p.Type == schema.ChatMessagePartTypeAudioURL && p.AudioURL != nil:
		address, mime = cmp.Or(p.AudioURL.URL, p.AudioURL.URI), p.AudioURL.MIMEType
	case p.Type == schema.ChatMessagePartTypeVideoURL && p.VideoURL != nil:
		address, mime = cmp.Or(p.VideoURL.URL, p.VideoURL.URI), p.VideoURL.MIMEType
	}
	if address == "" {
		return core.File{}, false
	}
	var f core.File
	f.SetURL(address)
	return withName(f, name, mime), true
}

// withName sets the name and the type of a file to those of its message part, which are better
// than those of its URL.
func withName(f core.File, name, mime string) core.File {
	f.Name, f.MIME = cmp.Or(name, f.Name), cmp.Or(mime, f.MIME)
	return f
}

// filePlaceholder is the content of a message from which all parts were removed.
const filePlaceholder = "[attached file]"

// fileParts records whether the client of a model refuses file parts.
type fileParts struct{ areRefused atomic.Bool }

// dropRefusedFiles reports whether err says that the client of the model refuses file parts,
// which it does before it sends anything. If so, it removes the file parts from req, so that
// the caller can send req again. Later requests have none from the start.
func (m *viewModel) dropRefusedFiles(ctx context.Context, req *request, err error) bool {
	if err == nil || !isFileRefusal(err) || !slices.ContainsFunc(req.messages, hasFiles) {
		return false
	}
	if m.files.areRefused.CompareAndSwap(false, true) {
		m.adapter.hooks.Logger().WarnContext(ctx, "the client of the model takes no file parts, so they are left out of requests: set eino.WithoutFileParts", "error", err)
	}
	req.messages = withoutFiles(slices.Clone(req.messages))
	return true
}

// isFileRefusal reports whether a client refuses a file part: the error names the type of the
// part, as in "unsupported chat message part type: file_url".
func isFileRefusal(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, string(schema.ChatMessagePartTypeFileURL)) && (strings.Contains(text, "support") || strings.Contains(text, "part type"))
}

// addFileHint adds the name of the option to an error that file parts of the request may have
// caused. The errors of services differ too much to be sure.
func addFileHint(req *request, err error) error {
	text := strings.ToLower(err.Error())
	mentions := func(word string) bool { return strings.Contains(text, word) }
	if !slices.ContainsFunc([]string{"file", "part", "content", "modal", "media"}, mentions) || !slices.ContainsFunc(req.messages, hasFiles) {
		return err
	}
	return fmt.Errorf("%w (the request has file parts: if the model takes none, set eino.WithoutFileParts)", err)
}

func hasFiles(m *schema.Message) bool {
	return slices.ContainsFunc(m.UserInputMultiContent, isFilePart) || slices.ContainsFunc(m.MultiContent, isFileChatPart)
}

// withoutFiles replaces the messages that have file parts by copies without them.
func withoutFiles(messages []*schema.Message) []*schema.Message {
	for i, m := range messages {
		if !hasFiles(m) {
			continue
		}
		edited := *m
		edited.UserInputMultiContent = slices.DeleteFunc(slices.Clone(m.UserInputMultiContent), isFilePart)
		edited.MultiContent = slices.DeleteFunc(slices.Clone(m.MultiContent), isFileChatPart)
		if len(edited.UserInputMultiContent)+len(edited.MultiContent) == 0 && edited.Content == "" {
			edited.Content = filePlaceholder
		}
		messages[i] = &edited
	}
	return messages
}

func isFilePart(p schema.MessageInputPart) bool {
	return p.Type == schema.ChatMessagePartTypeFileURL
}

func isFileChatPart(p schema.ChatMessagePart) bool {
	return p.Type == schema.ChatMessagePartTypeFileURL
}
