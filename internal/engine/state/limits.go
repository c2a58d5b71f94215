package state

import "time"

const (
	// maxDecodedBytes bounds the cache of decoded records by their stored size in bytes. That
	// is some ten thousand records of a few kilobytes.
	maxDecodedBytes = 32 << 20
	// maxTextBytes bounds the cache of pinned texts, in bytes. Most sessions pin the same
	// texts, and the cache holds each text once.
	maxTextBytes = 64 << 20
	// maxPinnedSessions is how many sessions the cache of pins holds. Pins of other sessions
	// are read from the store.
	maxPinnedSessions = 10_000
	// maxQueue is how long an update waits for other updates of the same record. Without a
	// bound, a change that updates another record of the same queue would deadlock.
	maxQueue = time.Second
	// tombstoneAge is how long Records remembers an ended session in a store without
	// tombstones. maxTombstones is how many agents one stored value then lists.
	tombstoneAge  = 30 * 24 * time.Hour
	maxTombstones = 64
	// listingPeriod is how long new catalog listings are pinned under the same session name.
	// listingPeriods is how many periods, with the present one, stay pinned. A session that
	// was idle for longer cannot learn which skills changed.
	listingPeriod  = 91 * 24 * time.Hour
	listingPeriods = 4

	// earlierCallTimeout is how long a call waits for an earlier one that is not open yet. It
	// is long enough for calls that start together. It bounds the wait for an earlier call
	// that the framework or the host has dropped.
	earlierCallTimeout = 2 * time.Second

	// maxNumberSave is how long the save of the number of a model call may take.
	maxNumberSave = 2 * time.Second

	// MaxAgents is how many agents a runtime keeps in memory. The record of a dropped agent
	// restores its state.
	MaxAgents = 10_000
	// maxForked is how many forks a record remembers that have not ended.
	maxForked = 64
	// maxFiles is how many attached files of one request stay in memory, and maxHolders how
	// many agents have such files. Files may be large, and are only needed until the calls of
	// the next response have run. The least recently used agent loses its files first.
	maxFiles   = 1000
	maxHolders = 1000
	// maxNamed is how many search hits, and how many deliveries, an agent remembers. They
	// are only used for events.
	maxNamed = 1000

	// maxArguments bounds a call's arguments in a record, and maxWord its name and its id, in
	// bytes. A record holds a digest instead of a longer text.
	maxArguments = 2 << 10
	maxWord      = 256
	// maxRan is how many commands of earlier responses of the turn a record remembers.
	maxRan = 64
	// maxRecent is how many recently loaded skills a record lists, and recentTurns for how
	// many turns after their load.
	maxRecent   = 16
	recentTurns = 2
	// maxHeldEntries and maxHeldBytes bound each list of allowed tools in a record, and
	// maxGrants its grants. A record drops any beyond them, which allows less.
	maxHeldEntries = 512
	maxHeldBytes   = 16 << 10
	maxGrants      = 256
	// maxReturnName is the length of a name in Returns, in bytes. The first digits of its
	// hash replace a longer name.
	maxReturnName = 8
	// archiveBytes bounds the ended deliveries that a stored record lists itself, in bytes.
	// maxRemoved is how many archived deliveries it may list as removed. For more, the record
	// gets a new archive.
	archiveBytes = 250
	maxRemoved   = 8
	// maxUnknown is how many calls of nonexistent tools a record keeps. It replaces a tool
	// name longer than maxUnknownName, in bytes, by a digest.
	maxUnknown     = 32
	maxUnknownName = 64
)

const (
	// maxSkills is how many loaded skills [ReadKeys] accepts, far more than any agent loads.
	maxSkills = 10_000
	// maxList is how many bytes a list of names in a state key may have: 10,000 names of a
	// hundred bytes.
	maxList = 1 << 20
)
