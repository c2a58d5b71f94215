package catalog

import "time"

// Bounds of a catalog.
const (
	// maxSkills is how many skills a catalog has; those of the lowest rank are left out.
	maxSkills = 50_000
	// maxListed is how many skills of one source the catalog uses.
	maxListed = 50_000
	// maxListedLen is the largest file of a source that is read, in bytes. The catalog holds the
	// whole file in memory to compare it with its digest.
	maxListedLen = 64 << 20
	// maxIDShown is how many bytes of an unusable id a finding shows.
	maxIDShown = 256
	// maxPath is the longest path in a tree, in bytes. No system opens a longer one.
	maxPath = 4096
	// maxUp is how many folders above a file are compared with the folders of hidden skills. It
	// is more than the depth of real trees.
	maxUp = 100
	// maxDerived is how many snapshots are kept for audiences, and for hidden skills.
	maxDerived = 64
	// maxFit is how many skills an [AmbiguousError] about a qualified name lists.
	maxFit = 16
	// maxCachedBytes is how many bytes of texts are kept in memory. Beyond it all are dropped,
	// because reading a file again is cheap.
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
	// defaultHits is how many strong hits a search returns, and weakHits how many weak ones.
	defaultHits = 8
	weakHits    = 5
	// defaultSearchBytes is how much of a SKILL.md the search reads, in bytes.
	defaultSearchBytes = 64 << 10
	// maxPhrasings is how many phrasings of a query count, and maxPhrasing how many runes of each.
	maxPhrasings = 8
	maxPhrasing  = 500
	// maxSuggestions is how many names are suggested for an unknown one.
	maxSuggestions = 3
	// maxCompared is how much of two names is compared, in runes. A valid name has at most 64.
	maxCompared = 64
)

// Bounds and weights of a search with vectors.
const (
	// defaultSimilarity is the cosine from which on a skill is similar to a query. Unrelated texts
	// have less with common models.
	defaultSimilarity = 0.85
	// embeddedBest is how many of the best skills by words, and by vectors, get a score from both.
	embeddedBest = 50
	// embeddedWeight is the weight of the cosine. The score by words is at most 1.
	embeddedWeight = 0.5
	// embeddedBatch is how many texts one call of the embedder gets.
	embeddedBatch = 128
	// embedderWait is how long a search waits for the embedder.
	embedderWait = 10 * time.Second
	// maxVector is how many numbers a vector may have. Common models return at most 4,096.
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
	// leftoverAge is the age at which a temporary file of a killed process is removed.
	leftoverAge = time.Hour
)
