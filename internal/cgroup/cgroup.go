// Package cgroup bounds the memory and the number of processes of one run, all
// its processes together, by the control groups of Linux. On other systems Open
// fails.
//
// A run has a group of its own, which is made for it and removed after it, and
// never used twice: a group that was once killed can kill what is put into it
// later.
package cgroup

import "errors"

var (
	// ErrUnavailable is wrapped when no group can be made, or none with the limit
	// that is asked for. The text says what is missing and what to change.
	ErrUnavailable = errors.New("control groups are not available")
	// ErrBusy is wrapped when a group still has processes after they were killed,
	// or was not empty when it was to be removed.
	ErrBusy = errors.New("control group has processes")
)

// Limits bound the processes of a group together. Zero, or less, is no limit.
type Limits struct {
	// Memory is in bytes: private memory, files in memory (tmpfs), the page cache
	// of files, which is given back first, and what the kernel keeps for the
	// processes. Swap counts as memory, or is not used at all.
	Memory int64
	// Processes is the number of processes and threads at one time.
	Processes int64
}
