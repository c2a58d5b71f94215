package langchaingo

import (
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// scratch is memory for building one request. Neither the client nor the runtime keeps any of
// it, so the next request can use it again.
type scratch struct {
	repairs  []llms.MessageContent
	messages []llms.MessageContent
	view     []llms.MessageContent
	refs     []core.Message
	space    []core.Message
	calls    []core.ToolCall
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// release returns s to the pool.
func (s *scratch) release() {
	s.reset()
	scratches.Put(s)
}

// reset clears the memory, so that it keeps no conversation alive and shows none to the next
// request.
func (s *scratch) reset() {
	clear(s.repairs)
	clear(s.messages)
	clear(s.view)
	clear(s.refs)
	clear(s.space)
	clear(s.calls)
	s.repairs, s.messages, s.view = s.repairs[:0], s.messages[:0], s.view[:0]
	s.refs, s.space, s.calls = s.refs[:0], s.space[:0], s.calls[:0]
}
