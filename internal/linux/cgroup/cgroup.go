// Package cgroup bounds the memory and the number of all processes of one run
// together, by means of the control groups of Linux, where alone it is.
//
// Each run has a group of its own, which is made for it and removed after it. A
// group is never used twice: one that was once killed can kill what is put into
// it later.
package cgroup

import "errors"

var (
	// ErrUnavailable is wrapped if no group can be made, or none with the
	// required limit. The text says what is missing and what to change.
	ErrUnavailable = errors.New("control groups are not available")
	// ErrBusy is wrapped if a group still has processes after they were killed,
	// or is not empty when it is to be removed.
	ErrBusy = errors.New("control group has processes")
)

// Limits bound the processes of a group together. Zero, or less, is no limit.
type Limits struct {
	// Memory is in bytes. It covers private memory, files in memory (tmpfs), the
	// page cache of files, which the kernel reclaims first, and what the kernel
	// keeps for the processes. Swap counts as memory, or is not used at all.
	Memory int64
	// Processes is the number of processes and threads at one time.
	Processes int64
}
