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
	// maxInput bounds the input of a session that its process has not read yet, in bytes.
	maxInput = 1 << 20
	// maxTail bounds the end of the output in which a question is searched, and maxLine its last
	// line, in bytes.
	maxTail = 4 << 10
	maxLine = 300
	// maxOwners is how many owners' session numbers a table remembers.
	maxOwners = 10_000
	// maxQuotedID bounds an unknown id in an error, in bytes.
	maxQuotedID = 80
	// settleTime is how long a process must have written nothing before its last line may count
	// as a question.
	settleTime = 60 * time.Millisecond
)

// Limits bounds the sessions of a Table. A zero field means its default.
type Limits struct {
	// Sessions is how many sessions of one owner may run at the same time.
	Sessions int
	// Total is how many sessions may run at the same time. One conversation cannot open another
	// one while its sessions outnumber the free places.
	Total int
	// Idle is how long a session may go without a call. Then it is killed or, if it has ended,
	// forgotten.
	Idle time.Duration
	// Timeout bounds a command that has no timeout of its own.
	Timeout time.Duration
	// Buffer is how many bytes of a session's text are kept. Text that was read is dropped first,
	// then the oldest.
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
