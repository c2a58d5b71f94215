package scan

import (
	"math"
	"time"
)

// Bounds of a search for skills.
const (
	// maxEntries is how many entries of one directory are read. A directory with more is no
	// collection of skills.
	maxEntries = 100_000
	// maxFollowed is how many links of one root are followed, and how many links of one
	// directory are checked.
	maxFollowed = 10_000
	// maxGitUp is how many directories above a root are searched for a git work tree.
	maxGitUp = 16
	// maxLinks is how many links one path may have. os.Root has the same bound.
	maxLinks = 40
	// maxManifest is the largest plugin.json, in bytes. Those of published plugins have less
	// than 4 KiB.
	maxManifest = 64 << 10
	// maxPluginName is the longest name that a plugin gets, in bytes.
	maxPluginName = 64
	// headBytes is how much of a SKILL.md is read at first, in bytes. Nearly all front matter is
	// shorter. The rest is searched for placeholders, and read when the skill is loaded.
	headBytes = 8 << 10
	// searchBytes is how much of a body is searched at a time for placeholders of arguments, in
	// bytes.
	searchBytes = 32 << 10
	// maxWorkers is how many goroutines read the directories of one level.
	maxWorkers = 8
	// listedAtOnce is how many entries one call to the system reads.
	listedAtOnce = 1024
)

// Bounds of one walk over a skill. The largest published skills have about a thousand files,
// eight levels deep.
const (
	// MaxFiles is how many files of one skill are listed.
	MaxFiles = 10_000
	// maxFileDepth is how many folders below a skill are listed.
	maxFileDepth = 16
	// maxListedDirs is how many folders of one skill are read.
	maxListedDirs = 5_000
	// maxListedEntries is how many entries are read in all folders of one skill.
	maxListedEntries = 200_000
	// maxSkipped is how many entries Walk.Skipped names.
	maxSkipped = 20
)

// NoLimit is the limit, in bytes, for a caller that accepts files of any size.
const NoLimit = math.MaxInt64

// Settle is how long after its modification a file must have been read for its stamp to be
// trusted. Two edits within one tick of the clock of the file system (up to 2 s on FAT) leave
// the same time. So a file that was read earlier than that is read again.
const Settle = 2 * time.Second

// The defaults of a [Reading].
const (
	defaultFileBytes = 1 << 20  // a SKILL.md is a text for a model: 1 MiB are 250,000 tokens
	defaultReadBytes = 16 << 20 // bytes of a file that is held in memory
	defaultDepth     = 6        // levels: a repository with folders of folders of skills
	defaultDirs      = 20_000   // directories: the largest public collection has a quarter
	defaultTimeout   = 10 * time.Second
	// defaultArchive is how many skills of one archive are listed.
	defaultArchive = 10_000
)
