// Package family finds and ends the processes that descend from a program, on Linux. On other
// systems it has only an error.
package family

import "errors"

// ErrStuck is wrapped if a process still exists a while after it was killed: it waits in the kernel,
// or belongs to another user.
var ErrStuck = errors.New("process survives being killed")
