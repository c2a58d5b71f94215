package run

import (
	"cmp"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// leastCeiling is the timeout that a call may always ask for, unless the host
// sets a MaxTimeout.
const leastCeiling = 10 * time.Minute

// timeouts returns the timeout of a command whose call does not set one, and the
// most that a call may ask for.
func timeouts(limits executor.Limits, standard time.Duration) (timeout, most time.Duration) {
	timeout, most = cmp.Or(limits.Timeout, standard), limits.MaxTimeout
	switch {
	case most <= 0 && timeout < 0:
		most = maxTimeout
	case most <= 0:
		most = max(timeout, leastCeiling)
	}
	if timeout > most || timeout < 0 && limits.MaxTimeout > 0 {
		timeout = most
	}
	return timeout, most
}

// withinCeilings limits the timeout that a call asks for, if it does, to what the host
// allows, and warns if that is less.
func withinCeilings(asked time.Duration, limits executor.Limits, standard time.Duration, n *notes) time.Duration {
	timeout, most := timeouts(limits, standard)
	if asked > most {
		n.add(fmt.Sprintf("timeout: %d seconds are more than this host allows; it is %d", asked/time.Second, most/time.Second))
		return most
	}
	return cmp.Or(asked, timeout)
}
