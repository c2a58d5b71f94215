package satchel

import (
	"errors"
	"sync"
)

// ErrShutdown reports a request or a call that came after [Runtime.Shutdown].
var ErrShutdown = errors.New("the runtime is shutting down")

// openCalls counts the calls that are open.
type openCalls struct {
	mu       sync.Mutex
	n        int
	stopping bool
	ended    chan struct{} // closed when no call is open any more
}

func newOpenCalls() *openCalls { return &openCalls{ended: make(chan struct{})} }

// enter counts a call, unless the runtime is shutting down.
func (o *openCalls) enter() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopping {
		return ErrShutdown
	}
	o.n++
	return nil
}

// check is enter without counting.
func (o *openCalls) check() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopping {
		return ErrShutdown
	}
	return nil
}

func (o *openCalls) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 && o.stopping {
		close(o.ended)
	}
}

// stop lets no further call enter. What it returns is closed when those that have
// entered have left.
func (o *openCalls) stop() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopping {
		o.stopping = true
		if o.n == 0 {
			close(o.ended)
		}
	}
	return o.ended
}
