package terminal

import "time"

// These limits replace the zero fields of Limits. A model works with one or two sessions,
// and reads their text within minutes.
const (
	DefaultSessions = 8  // of one owner
	DefaultTotal    = 64 // in all: each is a process with its descendants
	DefaultIdle     = 30 * time.Minute
	DefaultTimeout  = time.Hour
	DefaultBuffer   = 4 << 20 // bytes of text of a session
)

const (
	// maxInput bounds the input of a session that its command has yet to read, in bytes.
	maxInput = 1 << 20
	// maxTail and maxLine bound the text that is searched for a question, in bytes.
	maxTail = 4 << 10
	maxLine = 300
	// maxOwners bounds the owners whose count of sessions is remembered.
	maxOwners = 10_000
	// maxEchoed bounds, in bytes, the part of an unknown id that an error repeats.
	maxEchoed = 80
	// settle is how long a process must have written nothing before its last line is
	// taken for a question.
	settle = 60 * time.Millisecond
)

// Limits bound the sessions of a Table. A zero field stands for its default.
type Limits struct {
	// Sessions is how many of one owner may run at a time.
	Sessions int
	// Total is how many may run at a time in all. One conversation, all its agents
	// together, opens no more when it has more than are still free.
	Total int
	// Idle is how long a session may go without a call. Then it is killed, or forgotten if it
	// has ended.
	Idle time.Duration
	// Timeout is how long a command may run that has no timeout of its own.
	Timeout time.Duration
	// Buffer is how many bytes of a session's text are kept. What was read goes
	// first, then the oldest that was not.
	Buffer int
}

func (l Limits) orDefaults() Limits {
	positive(&l.Sessions, DefaultSessions)
	positive(&l.Total, DefaultTotal)
	positive(&l.Idle, DefaultIdle)
	positive(&l.Timeout, DefaultTimeout)
	positive(&l.Buffer, DefaultBuffer)
	return l
}

func positive[T ~int | ~int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
