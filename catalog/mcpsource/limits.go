package mcpsource

import "time"

// Bounds of one skill, from the specification of the extension.
const (
	maxFiles   = 512
	maxBytes   = 16 << 20 // of all files
	maxURI     = 2048     // bytes
	maxHead    = 64 << 10 // bytes of front matter
	maxPath    = 512      // bytes
	maxFolders = 32       // folders of a path
	maxDepth   = 32       // of values of front matter
)

// Bounds of what a server sends.
const (
	// maxSkills is how many skills are listed; the rest is one diagnostic.
	maxSkills = 1000
	// maxID is the longest id of a skill, in bytes. Catalogs accept no longer one.
	maxID = 256
	// maxListBytes is how many bytes of a list are kept in memory.
	maxListBytes = 64 << 20
	// maxPage is how many skills a page has.
	maxPage = 10_000
	// maxCursor is the longest cursor, in bytes. All cursors of a list are kept, to find a loop.
	maxCursor = 4 << 10
	// maxMessage is the largest message of a server, in bytes: a file of 16 MiB in base64, or a
	// page of skills.
	maxMessage = 32 << 20
	// maxRedirects is how many redirects are followed.
	maxRedirects = 5
	// cacheBytes is how many bytes of files are kept in memory.
	cacheBytes = 64 << 20
)

const (
	// answerTime is how long one answer of a server may take.
	answerTime = 10 * time.Second
	// pollEvery is how often a server that does not report changes is asked for its skills.
	pollEvery = 30 * time.Second
	// closeTime is how long a program has to end after its input is closed.
	closeTime = 5 * time.Second
)
