package langchaingo

import (
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// WithCacheMarks marks, in every request, where Claude should store the prefix in its prompt
// cache. It sets control by llms.WithCacheControl at the places of core.View.CacheMarks;
// anthropic.EphemeralCache is such a control. langchaingo's client can mark user messages only.
// So the calls and results of the current turn, which follow the last user message, are paid in
// full. A host whose own client accepts more marks should set its own. Marks that the host has
// set stay and count. The text of a message never changes. For other clients the option does
// nothing: their services need no marks.
func WithCacheMarks(control *llms.CacheControl) Option {
	return func(c *config) error {
		if control == nil || control.Type == "" {
			return fmt.Errorf("%w: cache control %+v", errArgument, control)
		}
		c.mark = control
		return nil
	}
}

// addCacheMarks replaces the messages to mark by marked copies.
func (c *config) addCacheMarks(msgs []llms.MessageContent, view []core.Message) []llms.MessageContent {
	if c.mark == nil || c.client != claude {
		return msgs
	}
	free := maxMarks - countMarks(msgs)
	out := msgs
	for _, i := range slices.Backward((core.View{Messages: view}).CacheMarks()) {
		last := len(msgs[i].Parts) - 1
		if free <= 0 || view[i].Role != core.User || last < 0 || !canBeMarked(msgs[i].Parts[last]) {
			continue
		}
		if &out[0] == &msgs[0] {
			out = slices.Clone(msgs)
		}
		parts := slices.Clone(msgs[i].Parts)
		parts[last] = llms.WithCacheControl(parts[last], c.mark)
		out[i] = llms.MessageContent{Role: msgs[i].Role, Parts: parts}
		free--
	}
	return out
}

func canBeMarked(part llms.ContentPart) bool {
	switch part.(type) {
	case llms.TextContent, llms.BinaryContent:
		return true
	}
	return false
}

func countMarks(msgs []llms.MessageContent) (n int) {
	for i := range msgs {
		for _, part := range msgs[i].Parts {
			if _, isMarked := part.(llms.CachedContent); isMarked {
				n++
			}
		}
	}
	return n
}
