package eino

import (
	"maps"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// WithCacheMarks marks, in every request, the messages after which the provider
// should keep the prefix in its prompt cache; satchel.CacheMarks says which. mark
// gets a copy of a message, its Extra included, and returns what is sent: claude's
// SetMessageBreakpoint of eino-ext is such a function, and [Extra] makes one.
// Only providers that want marks need them, and the text of a message never
// changes.
func WithCacheMarks(mark func(*schema.Message) *schema.Message) Option {
	return func(s *settings) { s.mark = mark }
}

// Extra returns a function for [WithCacheMarks] that sets one field of a message's Extra. It
// serves models whose package is not imported: eino-ext's model for Claude reads the field
// "_eino_claude_breakpoint", true.
func Extra(key string, value any) func(*schema.Message) *schema.Message {
	return func(m *schema.Message) *schema.Message {
		if m.Extra == nil {
			m.Extra = make(map[string]any, 1)
		}
		m.Extra[key] = value
		return m
	}
}

// marked puts the marks on copies of the messages of a request.
func (s *settings) marked(messages []*schema.Message, view []core.Message) []*schema.Message {
	if s.mark == nil {
		return messages
	}
	for _, i := range satchel.CacheMarks(view) {
		m := *messages[i]
		m.Extra = maps.Clone(m.Extra)
		if marked := s.mark(&m); marked != nil {
			messages[i] = marked
		}
	}
	return messages
}
