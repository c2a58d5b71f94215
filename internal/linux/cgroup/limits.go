package cgroup

import "time"

const (
	// maxPids is the largest limit of processes that the kernel accepts.
	maxPids = 1 << 22
	// maxBelow bounds how many groups are looked for inside a group. A command can
	// make such groups only if it is root and sees the file system of the groups.
	maxBelow = 1000
	// maxHeld is how many process descriptors are open at a time.
	maxHeld = 256
	// removeWait is how long a group may stay busy after its last process has ended.
	removeWait = time.Second
	// killWait is how long Kill waits for the killed processes to end.
	killWait = 2 * time.Second
)
