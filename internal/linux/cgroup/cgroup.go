// Package cgroup bounds the memory and the number of all processes of one run together, by the
// control groups of Linux.
//
// Each run has a group of its own, which is created before it and removed after it. A group is
// never used twice: the kernel can kill processes that join a group after it was killed.
package cgroup

import "errors"

var (
	// ErrUnavailable is wrapped if no group can be created, or none with the required limit. The
	// text says what is missing and what to change.
	ErrUnavailable = errors.New("control groups are not available")
	// ErrBusy is wrapped if a group still has processes when Kill or Remove give up.
	ErrBusy = errors.New("control group has processes")
)

// Limits bound the processes of a group together. Zero or less means no limit.
type Limits struct {
	// Memory is in bytes. It covers private memory, files in memory (tmpfs), the page cache of
	// files, which the kernel reclaims first, and memory of the kernel for the processes. Swap
	// counts as memory, or is not used at all.
	Memory int64
	// Processes is the number of processes and threads at one time.
	Processes int64
}
