package view

import (
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/lru"
)

// MaxAgents is how many agents a runtime keeps in memory. An agent that is dropped loses
// nothing that its record cannot restore.
const MaxAgents = 10_000

// Bounds of the attached files in memory: how many files of one request, and the
// files of how many agents. Files may be large and are needed only until the calls
// of the next response have run, and the next request brings them again. So the
// least recently used agent loses its files first.
const (
	maxFiles   = 1000
	maxHolders = 1000
)

// maxWatched bounds the prefix guards of a runtime: each holds a request.
const maxWatched = 1000

// States finds the state of an agent by its key.
type States struct {
	mu  sync.Mutex
	all *lru.Cache[core.SessionKey, *State]
	// holders are the states that hold files. watched are those that have a prefix
	// guard.
	holders *lru.Cache[*State, struct{}]
	watched *lru.Cache[*State, *steps.PrefixGuard]
}

// NewStates returns the states of at most so many agents.
func NewStates(limit int) *States {
	a := &States{
		holders: lru.New(maxHolders, func(s *State, _ struct{}) { s.attach(nil) }),
		watched: lru.New[*State, *steps.PrefixGuard](maxWatched, nil),
	}
	a.all = lru.New(limit, func(_ core.SessionKey, s *State) { a.drop(s) })
	return a
}

// Of returns the state of an agent and makes one where there is none.
func (a *States) Of(key core.SessionKey) *State {
	a.mu.Lock()
	defer a.mu.Unlock()
	state, ok := a.all.Get(key)
	if !ok {
		state = &State{}
		a.all.Put(key, state, 1)
	}
	return state
}

// TurnOf returns the number of an agent's user turn, 0 where it is not known.
func (a *States) TurnOf(key core.SessionKey) int {
	a.mu.Lock()
	state, ok := a.all.Get(key)
	a.mu.Unlock()
	if !ok {
		return 0
	}
	return state.turnNumber()
}

// End forgets every agent of a session.
func (a *States) End(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, state := range a.all.All() {
		if key.Session == session {
			a.all.Remove(key)
			a.drop(state)
		}
	}
}

// drop removes the files and the prefix guard of an agent. a.mu is held.
func (a *States) drop(state *State) {
	if a.holders.Remove(state) {
		state.attach(nil)
	}
	a.watched.Remove(state)
}

// Keep replaces the files of the last request by those of the next one. Of too many
// files it keeps the newest.
func (a *States) Keep(state *State, files []core.File) {
	files = files[max(0, len(files)-maxFiles):]
	a.mu.Lock()
	defer a.mu.Unlock()
	state.attach(files)
	if len(files) == 0 {
		a.holders.Remove(state)
		return
	}
	a.holders.Put(state, struct{}{}, 1)
}

// Watch returns the prefix guard of an agent. A guard that was dropped to make room
// for others starts again without a request to compare with.
func (a *States) Watch(state *State) *steps.PrefixGuard {
	a.mu.Lock()
	defer a.mu.Unlock()
	guard, ok := a.watched.Get(state)
	if !ok {
		guard = new(steps.PrefixGuard)
		a.watched.Put(state, guard, 1)
	}
	return guard
}
