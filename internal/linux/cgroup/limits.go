package cgroup

import "time"

// Bounds of groups and of the time to remove them.
const (
	// maxPids is the largest limit of processes that the kernel accepts.
	maxPids = 1 << 22
	// maxBelow bounds how many groups inside a group are found. A command can create such
	// groups only if it is root and sees the cgroup file system.
	maxBelow = 1000
	// maxHeld is how many process descriptors are open at a time.
	maxHeld = 256
	// removeWait is how long a group may stay busy after its last process has ended.
	removeWait = time.Second
	// killWait is how long Kill waits for the killed processes to end.
	killWait = 2 * time.Second
	// minPause and maxPause are the first and the longest pause between two attempts of Kill
	// or Remove.
	minPause = 200 * time.Microsecond
	maxPause = 20 * time.Millisecond
)
