package pgstore

import "time"

// The bounds of a store.
const (
	// maxValue is the length of the data of a value in bytes, before it is packed. A record
	// is a few KiB.
	maxValue = 1 << 20
	// maxText is the length of a pinned text in bytes: that of a file of session.Directory.
	maxText = 16 << 20
	// defaultTTL is how long a session is kept after its last Save; see [WithTTL].
	defaultTTL = 30 * 24 * time.Hour
	// closedTime is how long the tombstones of an ended session are kept, as in all stores.
	closedTime = 30 * 24 * time.Hour
	// defaultSweep is the time between two sweeps; see [WithSweep].
	defaultSweep = 10 * time.Minute
	// sweepRows is how many rows one statement of a sweep removes, so that its locks are short.
	sweepRows = 1000
	// maxRounding is the most by which the end of a session is rounded up, so that most saves
	// leave the index alone.
	maxRounding = 24 * time.Hour
	// attempts is how often a statement is executed, for attemptTime each, before the server
	// counts as gone. A fail-over takes a few seconds.
	attempts    = 3
	attemptTime = 2 * time.Second
	// firstPause is the pause before the second attempt; the third comes after four times that.
	firstPause = 100 * time.Millisecond
	// lanes is how many Saves of different values a handle runs at a time, so that a wait for
	// another value is rare.
	lanes = 256
)
