package source

import (
	"time"

	"github.com/satchel-go/satchel/skillmd"
)

// Reading says how skills are found and read. A field of 0 is the default.
type Reading struct {
	// Mode is how strictly SKILL.md files are parsed; the default is [skillmd.Lenient]. The mode
	// also decides about other spellings of the file's name: lenient accepts any case with a
	// warning, [skillmd.SkillsRef] accepts skill.md as the reference library does, strict accepts
	// SKILL.md only.
	Mode skillmd.Mode
	// MaxFileBytes is the largest SKILL.md and the largest doc that is read, in bytes; the default
	// is 1 MiB. A larger SKILL.md is a diagnostic, and reading a larger doc is an error.
	MaxFileBytes int64
	// MaxReadBytes is the largest file that Catalog.ReadFile reads, in bytes; the default is
	// 16 MiB.
	MaxReadBytes int64
	// MaxDepth is how many directories below a root are searched for skills; the default is 6,
	// and -1 searches the root directory alone.
	MaxDepth int
	// MaxDirs is how many directories of one root are searched for skills; the default is 20,000.
	// Directories inside a skill do not count.
	MaxDirs int
	// Nested makes skills below the directory of another skill part of the catalog. By default
	// they are ignored and counted in a diagnostic, because they are often copies and test data.
	// A skill that is itself the root of the search never hides the skills below it.
	Nested bool
	// DocExtensions are the extensions of the files that count as docs, with or without their
	// dot, in any case. The default, nil, is .md and .txt; an empty list stands for no docs.
	DocExtensions []string
	// ScanTimeout is how long a root made by [From] may take to list its skills; the default is
	// 10 seconds. If it takes longer, the catalog keeps the skills of its last listing.
	ScanTimeout time.Duration
}
