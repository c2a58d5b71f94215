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

// attached lists what the users attached to their messages: files, pictures,
// audio and video. Nothing is decoded or fetched, and what is referred to by a
// URL other than data: is known by that URL alone.
func attached(input []*schema.Message, refs []core.Message) []core.File {
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
			continue // as in textOf
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
	return called(f, name, c.MIMEType), true
}

// chatFile is inputFile for the older form of parts.
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
	return called(f, name, mime), true
}

// called gives a file the name and the type of its message, which say more
// than its URL.
func called(f core.File, name, mime string) core.File {
	f.Name, f.MIME = cmp.Or(name, f.Name), cmp.Or(mime, f.MIME)
	return f
}

// leftOut stands for the parts of a message that had nothing but files.
const leftOut = "[attached file]"

// fileParts remembers whether the client of a model refuses file parts.
type fileParts struct{ refused atomic.Bool }

// left reports whether an error is the refusal of a file part by the client of the model,
// which it gives before anything is sent. Then it takes the file parts out of the
// request, which can be made again, and later requests have none from the start.
func (m *viewModel) left(ctx context.Context, req *request, err error) bool {
	if err == nil || !isFileRefusal(err) || !slices.ContainsFunc(req.messages, hasFiles) {
		return false
	}
	if m.files.refused.CompareAndSwap(false, true) {
		m.adapter.hooks.Logger().WarnContext(ctx, "the client of the model takes no file parts, so they are left out of requests: set eino.WithoutFileParts", "error", err)
	}
	req.messages = withoutFiles(slices.Clone(req.messages))
	return true
}

// isFileRefusal recognises the errors of clients that name the type of a part, such as
// "unsupported chat message part type: file_url".
func isFileRefusal(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, string(schema.ChatMessagePartTypeFileURL)) && (strings.Contains(text, "support") || strings.Contains(text, "part type"))
}

// hinted adds the name of the option to an error that file parts of the request may have
// caused. What a service answers to them differs too much to be recognised.
func hinted(req *request, err error) error {
	text := strings.ToLower(err.Error())
	about := func(word string) bool { return strings.Contains(text, word) }
	if !slices.ContainsFunc([]string{"file", "part", "content", "modal", "media"}, about) || !slices.ContainsFunc(req.messages, hasFiles) {
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
			edited.Content = leftOut
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
