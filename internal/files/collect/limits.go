package collect

import "github.com/satchel-go/satchel/internal/files/plainfile"

// Defaults of zero fields of a [Spec]. A model can handle the names of a hundred files. It
// needs fewer contents than these sizes allow.
const (
	DefaultMaxFiles      = 100
	DefaultMaxFileBytes  = 4 << 20
	DefaultMaxTotalBytes = 64 << 20
)

// The largest values that a [Spec] may have.
const (
	CeilingMaxFiles      = 10_000
	CeilingMaxFileBytes  = 1 << 30
	CeilingMaxTotalBytes = 4 << 30
)

const (
	// MaxInlineFile is the most that is inlined of one file: 4 MiB.
	MaxInlineFile = 4 << 20
	// MaxInlineTotal is the most that one Collection inlines: 64 MiB, in memory.
	MaxInlineTotal = 64 << 20
	// MaxPrimary is the greatest size of a primary output: 32 KiB, about 8,000 tokens.
	MaxPrimary = 32 << 10
	// headBytes is how much is read of each file to detect its type; sniffing looks
	// at no more.
	headBytes = 3072
	// maxNotes bounds the warnings, so that a command that leaves thousands of links
	// does not fill the model's context with them.
	maxNotes = 20
)

// Bounds of a glob. They ensure that matching a name takes time in proportion to
// the lengths of both, for every pattern.
const (
	maxGlobs        = 64   // of a Spec
	maxPatterns     = 128  // of all globs of a Spec, after braces are expanded
	maxGlob         = 1024 // bytes
	maxWildcards    = 32   // *, ? and [ together
	maxDeep         = 4    // segments **
	maxBraces       = 16
	maxAlternatives = 64                 // patterns to which the braces of a glob expand
	maxSegment      = 255                // bytes; no file system takes longer names
	maxDepth        = plainfile.MaxDepth // segments, and nested directories
)

const (
	// maxEntries bounds how many names a search looks at.
	maxEntries = 100_000
	// maxWork bounds the time for matching names: a second or two. The unit is a byte of a
	// name times a byte of the pattern.
	maxWork = 1 << 30
	// listBatch is how many names are read from a directory at once.
	listBatch = 256
)
