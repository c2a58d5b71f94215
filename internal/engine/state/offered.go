package state

import (
	"slices"

	"github.com/satchel-go/satchel/catalog"
)

// Offered are the skills that an agent is offered: those with a description, those by name only, and
// how many are in neither.
type Offered struct {
	Described, Named []string
	Left             int
}

// NoteOverview notes the snapshot of which the agent has an overview, and reports whether it is not
// that of the last call.
func (a *Agent) NoteOverview(snapshot *catalog.Snapshot) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	isNew := a.overview != snapshot
	a.overview = snapshot
	return isNew
}

// NoteOffered notes what the agent is offered, and reports whether it has changed since the last call.
// Before the first call nothing is offered.
func (a *Agent) NoteOffered(o Offered) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := &a.offered
	if was.Left == o.Left && slices.Equal(was.Described, o.Described) && slices.Equal(was.Named, o.Named) {
		return false
	}
	a.offered = o
	return true
}
