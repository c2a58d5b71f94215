package family

import "time"

// KillWait is how long killed processes may take to end. They end when they next get a processor,
// which on a busy machine can take seconds. A process that takes longer hangs in the kernel, for
// example because a file system does not answer.
const KillWait = 30 * time.Second

// minKillPause and maxKillPause are the first and the longest pause between two searches for
// processes that were killed and have not ended.
const (
	minKillPause = 500 * time.Microsecond
	maxKillPause = 20 * time.Millisecond
)

// Markers are larger than any limit that a program sets on purpose, and smaller than infinity.
const (
	minMarker = 1 << 31
	MaxMarker = 1 << 62
)

// To start a process takes locks of the whole machine, so the kernel cannot assign numbers faster
// than one in minNumberTime. Checking maxNumbers numbers takes about the same time as listing the
// processes of a busy machine.
const (
	minNumberTime = 2 * time.Microsecond
	maxNumbers    = 4096
)
