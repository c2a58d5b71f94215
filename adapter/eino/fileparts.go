package eino

import (
	"slices"

	"github.com/cloudwego/eino/schema"
)

// leftOut stands for the parts of a message that had nothing but files.
const leftOut = "[attached file]"

// withoutFiles replaces the messages that have file parts by copies without them.
func withoutFiles(messages []*schema.Message) []*schema.Message {
	for i, m := range messages {
		if !slices.ContainsFunc(m.UserInputMultiContent, isFilePart) && !slices.ContainsFunc(m.MultiContent, isFileChatPart) {
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
