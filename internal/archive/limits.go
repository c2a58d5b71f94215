package archive

import "time"

// The defaults of [Limits]. The largest public collections of skills have a fifth of them.
const (
	maxDownload = 64 << 20  // bytes
	maxUnpacked = 256 << 20 // bytes
	maxFile     = 64 << 20  // bytes
	maxFiles    = 10_000
	maxRatio    = 100 // unpacked to packed: text packs to a tenth
	// unchargedRatio is how much every archive may unpack, whatever its ratio, in bytes.
	unchargedRatio = 64 << 10
)

// Bounds of a download.
const (
	// downloadTime is the default of Options.Timeout, and dialTime how long a connection takes.
	downloadTime = time.Minute
	dialTime     = 15 * time.Second
	// maxRedirects is how many redirects are followed.
	maxRedirects = 5
	// maxHeaders is how many bytes of headers a response has, and maxHeader the longest header
	// that is kept, in bytes.
	maxHeaders = 64 << 10
	maxHeader  = 256
	// maxKnown is the largest file about an address, in bytes.
	maxKnown = 64 << 10
)

// Bounds of the cache.
const (
	// freshFor is how long an archive is not asked for again.
	freshFor = 5 * time.Minute
	// keptFor is how long an archive is kept that no address names any more: a catalog
	// may still read it. What a crash has left half made is kept as long.
	keptFor = 24 * time.Hour
	// sweptEach is how often the directory is looked through, beside new archives.
	sweptEach = time.Hour
	// maxCache is how many bytes the unpacked archives of a directory have.
	maxCache = 2 << 30
	// fileBlock is what a file takes on disk at least, in bytes.
	fileBlock = 4 << 10
)

// Bounds of what is unpacked.
const (
	maxName  = 1024 // bytes of the name of an entry
	maxDepth = 32   // parts of it
	// perEntry is how many bytes of a tar an entry takes beside its data: headers, and
	// what fills their blocks.
	perEntry = 4 << 10
	// perListing and perListed are how many bytes the list of a zip has: some, and some for each
	// entry. It is read whole before its entries are counted.
	perListing = 256 << 10
	perListed  = 512
	// copyBuffer is how many bytes are copied between two looks at the context.
	copyBuffer = 32 << 10
)
