package state

import (
	"errors"
	"sync"
)

// ErrShutdown reports a request or a call that came after [OpenCalls.Stop].
var ErrShutdown = errors.New("the runtime is shutting down")

// OpenCalls counts the open calls of all responses. A caller that closes what they use can
// wait for them. Its zero value is ready.
type OpenCalls struct {
	mu       sync.Mutex
	n        int
	stopping bool
	ended    chan struct{} // closed when no call is open any more; nil before Stop
}

// Enter counts a call, and reports false where none may enter any more.
func (o *OpenCalls) Enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopping {
		o.n++
	}
	return !o.stopping
}

// Stopped reports whether no call may enter any more.
func (o *OpenCalls) Stopped() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stopping
}

// Leave ends a call that has entered.
func (o *OpenCalls) Leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 && o.stopping {
		close(o.ended)
	}
}

// Stop lets no further call enter. What it returns is closed when those that have
// entered have left.
func (o *OpenCalls) Stop() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopping {
		o.stopping, o.ended = true, make(chan struct{})
		if o.n == 0 {
			close(o.ended)
		}
	}
	return o.ended
}
