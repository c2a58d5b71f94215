package session

import "time"

// Limits of the stores of this package.
const (
	// maxSessions is how many sessions a [Memory] holds by default. At a few KiB each they take
	// some hundred MiB.
	maxSessions = 100_000
	// maxTombstones is how many agents of ended sessions a [Memory] remembers: some 50 MiB.
	maxTombstones = 250_000
	// tombstoneAge is how long a store remembers that a session has ended. Clients that
	// repeat an old transcript do so within days.
	tombstoneAge = 30 * 24 * time.Hour
	// pruneInterval is how many calls of MarkEnded there are for one that also removes expired
	// tombstones, so that the removal costs little.
	pruneInterval = 64
	// maxFile is the size in bytes of the largest file that is written or read. A record has a
	// few KiB, and a pinned text at most a few MiB.
	maxFile = 16 << 20
	// maxAttempts is how often an operation starts over because others interfere. Each time
	// another writer has made progress, so the limit is never reached in practice.
	maxAttempts = 1000
	// leftoverAge is the age above which a temporary file is a leftover of a crash. No write
	// takes minutes.
	leftoverAge = 10 * time.Minute
	// versionsPerGeneration is how many saves a generation takes, so that few files are read.
	versionsPerGeneration = 8
	// minSaves is how many saves a generation must have before the older ones are removed. Until
	// then, an older version replaces a damaged one.
	minSaves = 3
)
