package source

import "time"

// Bounds of what a source may list.
const (
	// maxEntryID is the longest id of a skill, in bytes.
	maxEntryID = 256
	// maxEntryHead is the longest front matter, in bytes. Package skillmd reads no longer one.
	maxEntryHead = 64 << 10
	// maxAncestors is how many directories above the one that Discover begins at are looked at.
	maxAncestors = 16
	// maxName is the longest name of a root, in bytes.
	maxName = 32
	// maxTrustFile is the largest file of trusted projects, in bytes: some ten thousand projects.
	maxTrustFile = 1 << 20
)

// How a source looks for changes of its tree.
const (
	// sourceQuiet is how long nothing may change before listeners are called again.
	sourceQuiet = 100 * time.Millisecond
	// sourceLatest is how long after a change listeners are called, however much goes on.
	sourceLatest = time.Second
	// maxWatched is how many folders are watched. Mostly the system allows fewer.
	maxWatched = 1 << 16
	// leastPoll and mostPoll are the shortest and the longest time between two polls.
	leastPoll = time.Second
	mostPoll  = 30 * time.Second
	// pollShare is the part of the time that polls may take: a hundredth.
	pollShare = 100
	// unwatchedShare is that part where the system does not report all changes: a tenth.
	unwatchedShare = 10
)
