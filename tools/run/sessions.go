package run

import (
	"time"

	"github.com/satchel-go/satchel/internal/engine/terminal"
)

// Limits bound the sessions of skill_exec. A zero field stands for its default.
type Limits struct {
	// Sessions is how many of one owner may run at a time; the default is 8.
	Sessions int
	// Total is how many may run at a time in all; the default is 64. One
	// conversation, all its agents together, opens no more when it has more than are
	// still free.
	Total int
	// Idle is the time after which a session that no call asks for is killed, and one
	// that has ended is forgotten. The default is 30 minutes.
	Idle time.Duration
	// Timeout is the longest run of a command that has no timeout of its own. The
	// default is one hour.
	Timeout time.Duration
	// Buffer is how many bytes of a session's text are kept; the default is 4 MiB.
	// What was read goes first, then the oldest that was not.
	Buffer int
}

// Guess looks for a question in the text that a process has written since its
// last input, at most its last 4 KiB and without control sequences. It is called
// when the process has written nothing for a moment. It returns what the process
// seems to wait for, "prompt", "selection" or "password", and in a few words what
// to send; both are "" if it sees no question. It must be quick and safe for
// concurrent use.
type Guess func(text string) (kind, hint string)

// question returns g as sessions ask it, nil for nil.
func (g Guess) question() terminal.Guess {
	if g == nil {
		return nil
	}
	return func(text string) *terminal.Question {
		kind, hint := g(text)
		if kind == "" {
			return nil
		}
		return &terminal.Question{Kind: terminal.Kind(kind), Hint: hint}
	}
}
