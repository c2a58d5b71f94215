package session

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
)

// Tombstones is a [Store] that remembers which sessions have ended. A transcript shows
// what was loaded, and a value that was lost is rebuilt from it. A session that was ended
// must not come back in this way, in any process.
type Tombstones interface {
	// MarkEnded ends a session and records last, its agents, in one step. Earlier
	// tombstones of agents that last does not name stay. Tombstones are kept for 30 days.
	MarkEnded(ctx context.Context, session string, last []Closed) error

	// Ended returns the highest number that the agent has given to a call in ended
	// sessions of that id, 0 if none is known.
	Ended(ctx context.Context, key core.SessionKey) (calls int, err error)
}

// Closed is the tombstone of an agent whose session was ended.
type Closed struct {
	Agent string
	// Calls is the highest number that the agent had given to a call.
	Calls int
}

// tombstone is a Closed as the directory store writes it.
type tombstone struct {
	// Agent has the exact bytes of the name, which a JSON string could not hold.
	Agent []byte `json:"agent"`
	Calls int    `json:"calls"`
	// At is when the session ended, in Unix seconds.
	At int64 `json:"at"`
}

func (t tombstone) isOver() bool { return time.Since(time.Unix(t.At, 0)) > tombstoneAge }

// merged returns the tombstones that still count, with those of the same agents replaced
// by last.
func merged(known []tombstone, last []Closed) []tombstone {
	known = slices.DeleteFunc(known, func(t tombstone) bool {
		return t.isOver() || slices.ContainsFunc(last, func(now Closed) bool { return now.Agent == string(t.Agent) })
	})
	for _, c := range last {
		known = append(known, tombstone{[]byte(c.Agent), c.Calls, time.Now().Unix()})
	}
	return known
}
