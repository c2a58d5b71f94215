package sandbox

import (
	"sync"

	"github.com/satchel-go/satchel/executor"
)

// probed holds the result of Probe.
var probed struct {
	sync.Mutex
	found bool
	caps  executor.Capabilities
}

// Probe returns what a Sandbox of New enforces on this machine, or the error of
// New. It keeps the first success for the rest of the process; errors are not
// kept.
func Probe() (executor.Capabilities, error) {
	probed.Lock()
	defer probed.Unlock()
	if probed.found {
		return probed.caps, nil
	}
	s, err := New()
	if err != nil {
		return executor.Capabilities{Isolation: executor.IsolationNone, Unavailable: err.Error()}, err
	}
	probed.found, probed.caps = true, s.Capabilities()
	return probed.caps, s.Close()
}
