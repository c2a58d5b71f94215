package executor

import (
	"slices"
	"time"
)

// firstLook is how long a command is left alone. Most have ended by then.
const firstLook = 20 * time.Millisecond

// check looks after something that no limit of the kernel bounds: see
// newDiskCheck and newMemoryCheck. One goroutine at a time uses it.
type check interface {
	// look looks once. It returns the reason to end the command, or "", and how
	// long it wants to wait before the next look: so long that looking takes only
	// a small share of the time. It breaks off soon after stop is closed.
	look(stop <-chan struct{}) (Reason, time.Duration)
	// close gives back what the check holds.
	close()
}

// watch lets the checks look, each at its own pace, until stop is closed or one
// of them has a reason to end the command, which it tells end, once. It returns
// soon after, and closes the checks; nil checks are passed over. Only a file
// system that does not answer can keep it, so it runs in a goroutine for which
// nobody waits.
func watch(stop <-chan struct{}, end func(Reason), checks ...check) {
	checks = slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c == nil })
	defer func() {
		for _, c := range checks {
			c.close()
		}
	}()
	if len(checks) == 0 {
		return
	}
	due := make([]time.Time, len(checks))
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		for i, c := range checks {
			if time.Now().Before(due[i]) {
				continue
			}
			reason, pause := c.look(stop)
			if reason != "" {
				end(reason)
				return
			}
			due[i] = time.Now().Add(pause)
		}
		timer.Reset(time.Until(slices.MinFunc(due, time.Time.Compare)))
	}
}
