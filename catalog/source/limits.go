package source

import "time"

// Bounds of listings and files.
const (
	// maxEntryID is the longest id of a skill, in bytes.
	maxEntryID = 256
	// maxEntryHead is the longest front matter, in bytes. Package skillmd reads no longer one.
	maxEntryHead = 64 << 10
	// maxAncestors is how many parent directories Discover searches.
	maxAncestors = 16
	// maxName is the longest name of a root, in bytes.
	maxName = 32
	// maxSkillFile is the longest SKILL.md whose front matter is read, in bytes.
	maxSkillFile = 1 << 20
	// maxTrustFile is the largest TrustFile, in bytes: some ten thousand projects.
	maxTrustFile = 1 << 20
)

// Bounds of the index of a host.
const (
	maxIndex            = 4 << 20 // bytes
	maxIndexEntries     = 10_000
	maxIndexDescription = 16 << 10 // bytes
	maxIndexURL         = 2 << 10  // bytes
)

// Times and bounds of [Tree.Notify].
const (
	// sourceQuiet is how long no file may change before listeners are called again.
	sourceQuiet = 100 * time.Millisecond
	// sourceLatest is how long after a change listeners are called even if files keep changing.
	sourceLatest = time.Second
	// maxWatched is how many folders are watched. Most systems allow fewer.
	maxWatched = 1 << 16
	// leastPoll and mostPoll are the shortest and the longest time between two polls.
	leastPoll = time.Second
	mostPoll  = 30 * time.Second
	// pollShare makes polls take at most a hundredth of the time.
	pollShare = 100
	// unwatchedShare makes them take at most a tenth if the system does not report all changes.
	unwatchedShare = 10
)
