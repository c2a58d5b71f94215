package cachemodel

// Numbers of the providers' documentation.
const (
	// maxBreakpoints is how many blocks of one request may be marked.
	maxBreakpoints = 4
	// lookBack is how many blocks before a mark the cache searches for an entry.
	lookBack = 20
	// lookups is how many earlier endings of a request the cache searches for an entry.
	lookups = 20
)

// Bytes of a text that a Difference shows: in all, and before the difference.
const (
	excerpt       = 80
	excerptBefore = 20
)
