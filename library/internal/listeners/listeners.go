// Package listeners keeps the functions that are called when something has changed.
package listeners

import "sync"

// Listeners are functions that wait for changes. The zero value has none and is ready to
// use, by several goroutines at once.
type Listeners struct {
	mu  sync.Mutex
	all map[*func()]bool
}

// Add lets f be called after each change, until stop is called.
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

// Notify says that something has changed. It waits for no listener.
func (l *Listeners) Notify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for f := range l.all {
		go (*f)()
	}
}
