package sqlite

import "time"

const (
	// defaultWatch is how often the store checks for changes of other processes. One check takes
	// some microseconds.
	defaultWatch = 250 * time.Millisecond
	// busyTime is how long a transaction waits for that of another process.
	busyTime = 5 * time.Second
	// readers is how many connections read at the same time; one more writes.
	readers = 4
)
