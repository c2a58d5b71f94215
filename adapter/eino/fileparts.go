package eino

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"
)

// leftOut stands for the parts of a message that had nothing but files.
const leftOut = "[attached file]"

// fileParts remembers whether the client of a model refuses file parts.
type fileParts struct{ refused atomic.Bool }

// left reports whether an error is the refusal of a file part by the client of the model,
// which it gives before anything is sent. Then it takes the file parts out of the
// request, which can be made again, and later requests have none from the start.
func (m *Model) left(ctx context.Context, req *request, err error) bool {
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
