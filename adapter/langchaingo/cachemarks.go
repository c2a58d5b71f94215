package langchaingo

import (
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// WithCacheMarks marks, in every request, where Claude should keep the prefix in its prompt
// cache. It sets the marks by llms.WithCacheControl, at the places that core.View.CacheMarks
// names; anthropic.EphemeralCache is a control. langchaingo's client can mark user messages
// only. So what follows the last of them, the calls and results of the current turn, is paid in
// full. A host whose own client takes more marks should set its own. Marks that the host has
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

// marked puts the marks on copies of the messages of a request.
func (c *config) marked(msgs []llms.MessageContent, view []core.Message) []llms.MessageContent {
	if c.mark == nil || c.client != claude {
		return msgs
	}
	left := maxMarks - countMarks(msgs)
	out := msgs
	for _, i := range slices.Backward((core.View{Messages: view}).CacheMarks()) {
		last := len(msgs[i].Parts) - 1
		if left <= 0 || view[i].Role != core.User || last < 0 || !canBeMarked(msgs[i].Parts[last]) {
			continue
		}
		if &out[0] == &msgs[0] {
			out = slices.Clone(msgs)
		}
		parts := slices.Clone(msgs[i].Parts)
		parts[last] = llms.WithCacheControl(parts[last], c.mark)
		out[i] = llms.MessageContent{Role: msgs[i].Role, Parts: parts}
		left--
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
			if _, marked := part.(llms.CachedContent); marked {
				n++
			}
		}
	}
	return n
}
