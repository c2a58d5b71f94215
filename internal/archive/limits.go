package archive

import "time"

// Defaults of [Limits]. The largest public collections of skills have a fifth of these sizes.
const (
	maxDownload = 64 << 20  // bytes
	maxUnpacked = 256 << 20 // bytes
	maxFile     = 64 << 20  // bytes
	maxFiles    = 10_000
	maxRatio    = 100 // unpacked to packed: text packs to a tenth
	// unchargedRatio is how many bytes every archive may unpack to, whatever its ratio.
	unchargedRatio = 64 << 10
	// magicBytes is how many bytes show the format: a header of a tar.
	magicBytes = 512
)

// Bounds of a download.
const (
	// downloadTime is the default of Options.Timeout, and dialTime the limit for connecting.
	downloadTime = time.Minute
	dialTime     = 15 * time.Second
	// lookupTime is how long this machine may look for the address of a host that a proxy is asked for.
	lookupTime = 2 * time.Second
	// maxRedirects is how many redirects are followed.
	maxRedirects = 5
	// maxHeaders bounds the headers of a response, and maxHeader each header that is stored, in
	// bytes.
	maxHeaders = 64 << 10
	maxHeader  = 256
	// maxRecord bounds the file with the record of an address, in bytes.
	maxRecord = 64 << 10
)

// Bounds of the cache.
const (
	// freshFor is how long after a request the server is not asked again.
	freshFor = 5 * time.Minute
	// keptFor is how long an archive without address stays: a catalog may still read it. The
	// temporary files of a crash stay as long.
	keptFor = 24 * time.Hour
	// sweepEvery is how often the directory is cleaned, besides after each new archive.
	sweepEvery = time.Hour
	// maxCache bounds the unpacked archives of a directory, in bytes.
	maxCache = 2 << 30
	// fileBlock is the least space of a file on disk, in bytes.
	fileBlock = 4 << 10
)

// Bounds of entries.
const (
	maxName  = 1024 // bytes of the name of an entry
	maxDepth = 32   // elements of the name
	// perEntry is how many bytes of headers and padding an entry of a tar may have for free.
	perEntry = 4 << 10
	// The directory of a zip may have baseListing bytes, and perListed more for each allowed
	// entry. It is read completely before its entries are counted.
	baseListing = 256 << 10
	perListed   = 512
	// copyBuffer is how many bytes are copied between two checks of the context.
	copyBuffer = 32 << 10
)
