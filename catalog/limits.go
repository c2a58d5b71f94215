package catalog

import "time"

// Bounds of a catalog.
const (
	// maxSkills is how many skills a catalog has; those of the lowest rank are left out.
	maxSkills = 50_000
	// maxListed is how many skills of one source are taken.
	maxListed = 50_000
	// maxListedLen is the largest file of a source that is read, in bytes: it is compared with
	// its digest as a whole.
	maxListedLen = 64 << 20
	// maxIDShown is how much of an id that cannot be used a finding shows, in bytes.
	maxIDShown = 256
	// maxPath is the longest path in a tree, in bytes. No system opens a longer one.
	maxPath = 4096
	// maxUp is how many folders above a file are compared with those of hidden skills.
	maxUp = 100
	// maxDerived is how many snapshots are kept for audiences.
	maxDerived = 64
	// maxFit is how many skills an [AmbiguousError] about a qualified name names.
	maxFit = 16
	// maxCachedBytes is how many bytes of texts are kept. If they are more, all of them are
	// dropped, because reading a file again is cheap.
	maxCachedBytes = 32 << 20
)

// Bounds of the docs of one skill. The largest published skills have about a thousand files,
// eight levels deep.
const (
	maxDocs     = 2_000
	maxDocDepth = 10 // folders below the skill
)

// Bounds of a search.
const (
	// defaultHits is how many strong hits are returned, and weakHits how many others.
	defaultHits = 8
	weakHits    = 5
	// defaultSearchBytes is how much of a SKILL.md the search reads, in bytes.
	defaultSearchBytes = 64 << 10
	// maxPhrasings is how many wordings of a query count, and maxPhrasing how many runes of each.
	maxPhrasings = 8
	maxPhrasing  = 500
	// maxSuggestions is how many names are suggested for one that no skill has.
	maxSuggestions = 3
	// maxCompared is how much of two names is compared, in runes. A valid name has at most 64.
	maxCompared = 64
)

// How vectors count, and how they are made.
const (
	// defaultSimilarity is beyond what unrelated texts have with common models.
	defaultSimilarity = 0.85
	// embeddedBest is how many skills, by words and by vectors, are ordered by both.
	embeddedBest = 50
	// embeddedWeight is the weight of the cosine beside the score by words, which is 1 for the best.
	embeddedWeight = 0.5
	// embeddedBatch is how many texts one call of the embedder gets.
	embeddedBatch = 128
	// embedderWait is how long a search waits for the embedder.
	embedderWait = 10 * time.Second
	// maxVector is how many numbers a vector has: models in use have at most 4,096.
	maxVector = 1 << 14
)

// The defaults of [WatchOptions].
const (
	watchQuiet  = 200 * time.Millisecond
	watchLatest = 2 * time.Second
	watchPoll   = 30 * time.Second
	maxWatches  = 4096 // folders
)

// Bounds of the cache.
const (
	// maxCache is the largest file of the cache, in bytes.
	maxCache = 512 << 20
	// leftoverAge is when a file that a killed process was writing is removed.
	leftoverAge = time.Hour
)
