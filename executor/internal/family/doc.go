// Package family finds and ends the processes that descend from a program, on Linux.
// Elsewhere it is empty.
package family

import (
	"errors"
)

// ErrStuck is wrapped when a process is still there after it was killed: it waits in the
// kernel, or belongs to another user.
var ErrStuck = errors.New("process survives being killed")
