package session

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
)

// Tombstones is a [Store] that remembers which sessions have ended. Satchel rebuilds a lost
// value from the loads in the transcript. With tombstones it does not rebuild an ended session
// in this way, in any process.
type Tombstones interface {
	// MarkEnded ends a session and stores a tombstone for each of its agents, in one step.
	// Earlier tombstones of other agents of the session stay. The store keeps tombstones for 30
	// days.
	MarkEnded(ctx context.Context, session string, last []Tombstone) error

	// Ended returns the highest number of a call that the agent made in ended sessions with that
	// id, or 0 if there is no tombstone.
	Ended(ctx context.Context, key core.SessionKey) (calls int, err error)
}

// Tombstone records that the session of an agent has ended.
type Tombstone struct {
	Agent string
	// Calls is the highest number that the agent had assigned to a call.
	Calls int
}

// storedTombstone is a Tombstone in the form in which [Directory] writes it.
type storedTombstone struct {
	// Agent holds the exact bytes of the name: not every name is a valid JSON string.
	Agent []byte `json:"agent"`
	Calls int    `json:"calls"`
	// At is when the session ended, in Unix seconds.
	At int64 `json:"at"`
}

func (t storedTombstone) isOver() bool { return time.Since(time.Unix(t.At, 0)) > tombstoneAge }

// mergeTombstones removes expired tombstones, and adds last in place of older ones of the same
// agents.
func mergeTombstones(known []storedTombstone, last []Tombstone) []storedTombstone {
	known = slices.DeleteFunc(known, func(t storedTombstone) bool {
		return t.isOver() || slices.ContainsFunc(last, func(now Tombstone) bool { return now.Agent == string(t.Agent) })
	})
	for _, c := range last {
		known = append(known, storedTombstone{[]byte(c.Agent), c.Calls, time.Now().Unix()})
	}
	return known
}
