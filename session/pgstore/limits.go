package pgstore

import "time"

// Limits of a store.
const (
	// maxValue limits the data of a value before compression, in bytes. A record has a few KiB.
	maxValue = 1 << 20
	// maxText limits a pinned text, in bytes, as a file of session.Directory does.
	maxText = 16 << 20
	// defaultTTL is how long a session stays after its last Save; see [WithTTL].
	defaultTTL = 30 * 24 * time.Hour
	// tombstoneTime is how long the tombstones of an ended session stay, as in all stores.
	tombstoneTime = 30 * 24 * time.Hour
	// defaultSweep is the time between two sweeps; see [WithSweep].
	defaultSweep = 10 * time.Minute
	// sweepRows is how many rows one statement of a sweep removes, so that it holds its locks
	// only for a short time.
	sweepRows = 1000
	// maxRounding is the most by which an expiry is rounded up, so that most saves do not change
	// the index.
	maxRounding = 24 * time.Hour
	// attempts is how often a statement is executed, for attemptTime each, before the store gives
	// up. A fail-over takes a few seconds.
	attempts    = 3
	attemptTime = 2 * time.Second
	// firstPause is the pause before the second attempt; the pause before the third is four times
	// as long.
	firstPause = 100 * time.Millisecond
	// parallelSaves is how many Saves a handle runs at a time. With so many, a Save rarely waits
	// for one of another value.
	parallelSaves = 256
)
