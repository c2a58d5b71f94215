// Package listeners calls functions when the data of a store has changed.
package listeners

import (
	"maps"
	"slices"
	"sync"
)

// Listeners holds the functions to call after changes. Its zero value is ready to use. It is safe
// for concurrent use.
type Listeners struct {
	mu  sync.Mutex
	all map[*func()]bool
}

// Add makes Notify call f, until the caller calls stop.
func (l *Listeners) Add(f func()) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = make(map[*func()]bool)
	}
	l.all[&f] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, &f)
	}
}

// Notify reports a change to all listeners before it returns. Listeners must return at once.
func (l *Listeners) Notify() {
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.all))
	l.mu.Unlock()
	for _, f := range all {
		(*f)()
	}
}
