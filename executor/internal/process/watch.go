package process

import (
	"slices"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// Check watches something that no limit of the kernel bounds: see [Disk] and
// [Memory]. Only one goroutine at a time uses it.
type Check interface {
	// look looks once. It returns a reason to end the command, or "", and how long to wait
	// before the next look. That is so long that looking takes only a small share of the time.
	// It returns early after stop is closed.
	look(stop <-chan struct{}) (executor.Reason, time.Duration)
	// close releases what the check holds.
	close()
}

// runChecks lets the checks look, each at its own pace, until stop is closed or a check has a reason
// to end the command. It calls end with that reason, once. Then it closes the checks and returns. It
// ignores nil checks. A file system that does not answer can delay it.
func runChecks(stop <-chan struct{}, end func(executor.Reason), checks ...Check) {
	checks = slices.DeleteFunc(slices.Clone(checks), func(c Check) bool { return c == nil })
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
