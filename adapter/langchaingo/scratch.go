package langchaingo

import (
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// scratch holds the memory for building one request. Neither the client nor the runtime keeps
// any of it, so the next request uses it again. Most of a request is the history, which was
// built a moment ago.
type scratch struct {
	repaired []llms.MessageContent
	messages []llms.MessageContent
	viewed   []llms.MessageContent
	refs     []core.Message
	space    []core.Message
	calls    []core.ToolCall
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// release gives the memory back.
func (s *scratch) release() {
	s.reset()
	scratches.Put(s)
}

// reset empties the memory, so that it neither holds on to a conversation nor
// shows one to the next.
func (s *scratch) reset() {
	clear(s.repaired)
	clear(s.messages)
	clear(s.viewed)
	clear(s.refs)
	clear(s.space)
	clear(s.calls)
	s.repaired, s.messages, s.viewed = s.repaired[:0], s.messages[:0], s.viewed[:0]
	s.refs, s.space, s.calls = s.refs[:0], s.space[:0], s.calls[:0]
}
