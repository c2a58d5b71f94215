package main

import "sync"

// rest ends what commands have left when none runs. Without namespaces the sandbox does not find a process
// that sets out to hide. A nil rest does nothing.
type rest struct {
	mu      sync.Mutex
	running int
	kill    func() // kills all other processes of the container
}

// begin counts a command that starts.
func (r *rest) begin() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running++
}

// end counts a command that has ended.
func (r *rest) end() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running--; r.running == 0 {
		r.kill() // no command starts meanwhile
	}
}
