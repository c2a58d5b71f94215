package reexec

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
	// those of the Go runtime itself. obey waits in one, one runs Go code while that one and
	// the main thread wait, and one is in reserve.
	spareThreads = 3
)
