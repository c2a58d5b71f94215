package sqlite

import "time"

const (
	// defaultWatch is the time between two looks for changes of other processes. One look
	// takes some microseconds.
	defaultWatch = 250 * time.Millisecond
	// busyTime is how long a transaction waits for that of another process.
	busyTime = 5 * time.Second
	// readers is how many connections read at a time; one more writes.
	readers = 4
)
