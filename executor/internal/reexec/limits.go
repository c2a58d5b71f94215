package reexec

// Bounds of messages and of this process.
const (
	// MaxFrame bounds a message in either direction, in bytes: a whole command with its
	// arguments, environment and secrets.
	MaxFrame = 16 << 20
	// MaxFiles bounds the descriptors that come with a Job: streams, pipes and mounts.
	MaxFiles = 64
	// backlog is how many connections wait to be accepted.
	backlog = 128
	// spareData is the memory in bytes that the Go runtime of this process may still need:
	// heap and thread stacks.
	spareData = 160 << 20
	// spareThreads is the number of threads that this process needs besides the main one and
	// those of the Go runtime itself. obey waits in the first. The second runs Go code while
	// obey and the main thread wait. The third is a reserve.
	spareThreads = 3
	// busyPause and maxBusyPause are the first and the longest pause before another attempt to
	// start a program whose file is open for writing, in nanoseconds.
	busyPause    = 1e6
	maxBusyPause = 512e6
)
