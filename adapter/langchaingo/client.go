package langchaingo

import (
	"reflect"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// client is a kind of langchaingo client. Kinds differ in how they read a request.
type client uint8

const (
	// openAI takes text and calls of the assistant in one message, and one message per tool
	// result. It stands for all clients that are not listed here.
	openAI client = iota
	// claude is Anthropic's client. It reads only the first part of a system, assistant or tool
	// message. So each part becomes a message of its own, and the service joins consecutive
	// messages of one role.
	claude
	// google uses the last system message only, and the service wants all results of one response
	// in one message.
	google
	// bedrock loses tool calls when it streams, so a request with tools is not
	// streamed: the streaming function gets the whole text at once.
	bedrock
)

// clientOf recognises a client by the package of its type, so that this package imports none of
// them.
func clientOf(llm llms.Model) client {
	t := reflect.TypeOf(llm)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return clientFrom(t.PkgPath())
}

func clientFrom(pkg string) client {
	switch {
	case strings.HasSuffix(pkg, "langchaingo/llms/anthropic"):
		return claude
	case strings.Contains(pkg, "langchaingo/llms/googleai"):
		return google
	case strings.HasSuffix(pkg, "langchaingo/llms/bedrock"):
		return bedrock
	}
	return openAI
}

// shape arranges messages for the client. It never changes a message in place, because its
// parts may be the caller's. It returns msgs itself if nothing changes.
func (c client) shape(msgs []llms.MessageContent) []llms.MessageContent {
	switch c {
	case claude:
		return splitParts(separateSystem(msgs))
	case bedrock:
		return separateSystem(msgs)
	case google:
		return joinResults(joinSystem(msgs))
	}
	return msgs
}

// alwaysCopies reports whether shape always returns a new slice.
func (c client) alwaysCopies() bool { return c == claude || c == google }

// separateSystem puts a blank line between consecutive system messages, which these clients
// join without a separator.
func separateSystem(msgs []llms.MessageContent) []llms.MessageContent {
	out := msgs
	for i := 1; i < len(msgs); i++ {
		if msgs[i].Role != llms.ChatMessageTypeSystem || msgs[i-1].Role != llms.ChatMessageTypeSystem || len(msgs[i].Parts) == 0 {
			continue
		}
		text, ok := msgs[i].Parts[0].(llms.TextContent)
		if !ok {
			continue
		}
		if &out[0] == &msgs[0] {
			out = slices.Clone(msgs)
		}
		out[i].Parts = slices.Clone(msgs[i].Parts)
		out[i].Parts[0] = llms.TextContent{Text: "\n\n" + text.Text}
	}
	return out
}

// splitParts makes a message of each part, except for user messages.
func splitParts(msgs []llms.MessageContent) []llms.MessageContent {
	n := 0
	for i := range msgs {
		n += max(1, len(msgs[i].Parts))
	}
	out, done := make([]llms.MessageContent, 0, n), 0 // msgs[:done] are in out
	for i := range msgs {
		if m := &msgs[i]; m.Role != llms.ChatMessageTypeHuman && len(m.Parts) > 1 {
			out = appendParts(append(out, msgs[done:i]...), m.Role, m.Parts)
			done = i + 1
		}
	}
	return append(out, msgs[done:]...)
}

// joinSystem joins all system messages into the first one.
func joinSystem(msgs []llms.MessageContent) []llms.MessageContent {
	first := slices.IndexFunc(msgs, isSystem)
	if first < 0 || !slices.ContainsFunc(msgs[first+1:], isSystem) {
		return msgs
	}
	out := slices.Clone(msgs[:first+1])
	for _, m := range msgs[first+1:] {
		if isSystem(m) {
			out[first].Parts = slices.Concat(out[first].Parts, m.Parts)
			continue
		}
		out = append(out, m)
	}
	return out
}

func isSystem(m llms.MessageContent) bool { return m.Role == llms.ChatMessageTypeSystem }

// joinResults joins consecutive results into one message.
func joinResults(msgs []llms.MessageContent) []llms.MessageContent {
	out, done := make([]llms.MessageContent, 0, len(msgs)), 0 // msgs[:done] are in out
	for i := 1; i < len(msgs); i++ {
		if msgs[i].Role == llms.ChatMessageTypeTool && msgs[i-1].Role == llms.ChatMessageTypeTool {
			out = append(out, msgs[done:i]...)
			last := &out[len(out)-1]
			last.Parts = slices.Concat(last.Parts, msgs[i].Parts)
			done = i + 1
		}
	}
	return append(out, msgs[done:]...)
}
