package run

import (
	"time"

	"github.com/satchel-go/satchel/internal/engine/terminal"
)

// Limits bounds the sessions of skill_exec. A zero field means its default.
type Limits struct {
	// Sessions is how many sessions of one agent may run at the same time; the default is 8.
	Sessions int
	// Total is how many sessions may run at the same time; the default is 64. One conversation
	// cannot open another one while its sessions outnumber the free places.
	Total int
	// Idle is the time after which a session without calls is killed, or forgotten if it has
	// ended. The default is 30 minutes.
	Idle time.Duration
	// Timeout bounds a command that has no timeout of its own. The default is one hour.
	Timeout time.Duration
	// Buffer is how many bytes of a session's text are kept; the default is 4 MiB. Text that was
	// read is dropped first, then the oldest.
	Buffer int
}

// Guess looks for a question in the text that a process has written since its last input. text is
// at most the last 4 KiB, without control sequences. Guess is called when the process has written
// nothing for a moment. It returns what the process seems to wait for, "prompt", "selection" or
// "password", and in a few words what to send. Both are "" if it sees no question. It must be
// quick and safe for concurrent use.
type Guess func(text string) (kind, hint string)

// question converts g for package terminal. It returns nil for nil.
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
