package redisstore

import "time"

// The bounds of a store.
const (
	// maxValue is the length of the data of a value in bytes, before it is packed. A record
	// is a few KiB.
	maxValue = 1 << 20
	// maxText is the length of a pinned text in bytes: that of a file of session.Directory.
	maxText = 16 << 20
	// defaultTTL is how long a session is kept after it was last saved; see [WithTTL].
	defaultTTL = 30 * 24 * time.Hour
	// closedTime is how long the tombstones of an ended session are kept, as in all stores.
	closedTime = 30 * 24 * time.Hour
	// maxRenewed is how many texts a handle remembers the last renewal of: some 20 MiB.
	maxRenewed = 100_000
	// attempts is how often a command is sent, for attemptTime each, before the server counts
	// as gone. A fail-over of Redis takes a few seconds.
	attempts    = 3
	attemptTime = 2 * time.Second
	// firstPause is the pause before the second attempt; the third comes after four times that.
	firstPause = 100 * time.Millisecond
	// lanes is how many Saves of different values a handle runs at a time, so that a wait for
	// another value is rare.
	lanes = 256
	// maxPrimaries is how many primaries of a cluster are examined; Redis allows 1,000 nodes.
	maxPrimaries = 1000
)
