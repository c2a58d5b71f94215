package session

import "time"

// The bounds of the stores of this package.
const (
	// maxSessions is how many sessions a [Memory] keeps by default. At a few KiB each they
	// take some hundred MiB.
	maxSessions = 100_000
	// maxTombstones is how many agents of ended sessions a [Memory] remembers: some 50 MiB.
	maxTombstones = 250_000
	// tombstoneAge is how long a store remembers that a session has ended. Clients that
	// repeat an old transcript do so within days.
	tombstoneAge = 30 * 24 * time.Hour
	// closedShare is how many calls of MarkEnded there are for one that removes expired
	// tombstones, so that the cost of that does not show.
	closedShare = 64
	// maxFile is the size in bytes of the largest file that is written or read. A record is
	// a few KiB, and a pinned text at most a few MiB.
	maxFile = 16 << 20
	// maxLooks is how often an operation is repeated because others undo it. Each repetition
	// means that another writer has made progress, so the bound is never reached in practice.
	maxLooks = 1000
	// leftoverAge is the age at which a temporary file counts as the remains of a crash. No
	// write takes minutes.
	leftoverAge = 10 * time.Minute
	// versionsPerGeneration is how many saves a generation takes, so that few files are read.
	versionsPerGeneration = 8
	// settledVersions is how many saves a generation must have before the older ones are
	// removed. Until then, if a file is damaged, an older version is found there.
	settledVersions = 3
)
