package state

import "time"

const (
	// maxDecodedBytes bounds the stored bytes of the records that are kept decoded: some
	// ten thousand records of a few kilobytes.
	maxDecodedBytes = 32 << 20
	// maxTextBytes bounds the bytes of pinned texts in memory. Most sessions pin the same
	// texts, and each is kept once.
	maxTextBytes = 64 << 20
	// maxPinnedSessions bounds the sessions whose pins are known: others ask the store.
	maxPinnedSessions = 10_000
	// maxQueue is how long an update waits for others of the same record. Without a
	// bound, a change that updates another record of the same queue would wait for itself.
	maxQueue = time.Second
	// tombstoneAge is how long an ended session is remembered where the store keeps no
	// tombstones itself, and maxTombstones how many agents one value names then.
	tombstoneAge  = 30 * 24 * time.Hour
	maxTombstones = 64
)
