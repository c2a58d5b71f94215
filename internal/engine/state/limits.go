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
	// listingPeriod is for how long listings of catalogs are pinned under one name, and
	// listingPeriods how many periods are kept, with the present one. Sessions learn of
	// changes since then.
	listingPeriod  = 91 * 24 * time.Hour
	listingPeriods = 4

	// MaxAgents is how many agents a runtime keeps in memory. An agent that is dropped loses
	// nothing that its record cannot restore.
	MaxAgents = 10_000
	// maxFiles is how many files of one request are kept, and maxHolders how many agents keep
	// files. Files may be large, and are needed only until the calls of the next response
	// have run. So the least recently used agent loses its files first.
	maxFiles   = 1000
	maxHolders = 1000
	// maxNamed is how many names of skills that a search found, and how many deliveries, are
	// remembered of an agent. They serve events only.
	maxNamed = 1000

	// maxArguments and maxWord bound what a record keeps of the arguments, and of the name
	// and id, of a call, in bytes. A longer text is kept as its digest.
	maxArguments = 2 << 10
	maxWord      = 256
	// maxRan is how many commands of a turn a record remembers beside those of the last
	// response.
	maxRan = 64
	// maxRecent is how many skills that were loaded lately a record names, and recentTurns
	// for how many turns after their load.
	maxRecent   = 16
	recentTurns = 2
	// maxHeldEntries, maxHeldBytes and maxGrants bound the lists and the grants that a record
	// keeps. Any beyond them are left out, which allows less.
	maxHeldEntries = 512
	maxHeldBytes   = 16 << 10
	maxGrants      = 256
	// maxReturnName is the length of a name in Returns, in bytes. A longer one is known by
	// the first digits of its hash.
	maxReturnName = 8
	// shelfBytes bounds the ended deliveries that a stored record lists itself, in bytes.
	// maxGone is how many entries of its shelf it names as gone; for more it gets a new list.
	shelfBytes = 300
	maxGone    = 8
	// maxUnknown is how many calls of tools that do not exist a record keeps, and
	// maxUnknownName the length of a name that it keeps as it is, in bytes.
	maxUnknown     = 32
	maxUnknownName = 64
)

const (
	// maxSkills is how many loaded skills are read, far more than any agent loads.
	maxSkills = 10_000
	// maxList is how many bytes a list of names may have: 10,000 names of a hundred bytes.
	maxList = 1 << 20
)
