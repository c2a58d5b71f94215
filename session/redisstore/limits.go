package redisstore

import "time"

// Limits of a store.
const (
	// maxValue limits the data of a value before compression, in bytes. A record has a few KiB.
	maxValue = 1 << 20
	// maxText limits a pinned text, in bytes, as a file of session.Directory does.
	maxText = 16 << 20
	// defaultTTL is how long a session stays after its last Save or Pin; see [WithTTL].
	defaultTTL = 30 * 24 * time.Hour
	// tombstoneTime is how long the tombstones of an ended session stay, as in all stores.
	tombstoneTime = 30 * 24 * time.Hour
	// maxRenewed is how many texts a handle remembers with the time of their last renewal: some
	// 20 MiB.
	maxRenewed = 100_000
	// attempts is how often a command is sent, for attemptTime each, before the store gives up. A
	// fail-over of Redis takes a few seconds.
	attempts    = 3
	attemptTime = 2 * time.Second
	// firstPause is the pause before the second attempt; the pause before the third is four times
	// as long.
	firstPause = 100 * time.Millisecond
	// parallelSaves is how many Saves a handle runs at a time. With so many, a Save rarely waits
	// for one of another value.
	parallelSaves = 256
	// maxPrimaries is the most primaries of a cluster that are checked; Redis allows 1,000 nodes.
	maxPrimaries = 1000
)
