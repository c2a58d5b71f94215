// Package family finds and ends the processes that descend from a program, on Linux.
// Elsewhere it is empty.
package family

import (
	"errors"
	"time"
)

// ErrStuck is wrapped when a process is still there after it was killed: it waits in the
// kernel, or belongs to another user.
var ErrStuck = errors.New("process survives being killed")

// KillWait is how long killed processes may take to be gone. They die when they
// next get a processor, which on a busy machine can take seconds. A process that
// is still there after this hangs in the kernel, for example because a file
// system does not answer.
const KillWait = 30 * time.Second
