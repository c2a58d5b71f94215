package family

import "time"

// KillWait is how long killed processes may take to be gone. They die when they
// next get a processor, which on a busy machine can take seconds. A process that
// is still there after this hangs in the kernel, for example because a file
// system does not answer.
const KillWait = 30 * time.Second

// Giving a number and starting the process takes locks of the whole machine, so it cannot be
// faster than minNumberTime. Checking maxNumbers numbers takes about the same time as listing
// the processes of a busy machine.
const (
	minNumberTime = 2 * time.Microsecond
	maxNumbers    = 4096
)
