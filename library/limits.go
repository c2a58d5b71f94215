package library

import "time"

// The bounds of a skill; see [Limits].
const (
	defaultSkillFile = 512 << 10 // bytes of SKILL.md: more than a context window holds
	defaultFile      = 1 << 20   // bytes of another file
	defaultFiles     = 200       // files, as in a skill of a folder
	defaultTotal     = 16 << 20  // bytes of all files
	maxPath          = 512       // bytes of the path of a file
	maxFolderDepth   = 32        // folders above a file, as in skills of folders
	maxHead          = 64 << 10  // bytes of front matter that a source lists; catalogs read no more
	maxManifest      = 64 << 10  // bytes of a plugin.json
)

// The bounds of edits and of the audit.
const (
	// defaultEdits is the default of AgentOptions.MaxEdits: more than a user needs in one turn,
	// and few enough to stop a model in a loop.
	defaultEdits = 30
	// maxTurns is for how many sessions the edits are counted at a time: a few MiB.
	maxTurns = 10_000
	// maxReason is how many runes of the reason of an edit are kept.
	maxReason = 500
	// maxEntries is how many entries of the audit a query without a limit returns.
	maxEntries = 1000
	// maxDetail is the longest difference, in bytes, that a question to a person shows in full.
	maxDetail = 48 << 10
)

// rescanAfter is how long the listed skills of a plugin count as current, so that a call lists them
// once at most.
const rescanAfter = 200 * time.Millisecond

// The bounds of the answers of the tools, which have 64 KiB in all.
const (
	maxPart        = 48 << 10 // bytes of a part of a text
	maxBoth        = 24 << 10 // bytes of a part that an answer has both plain and numbered
	maxMetadata    = 8 << 10  // bytes of metadata, or of parameters
	maxFileList    = 12 << 10 // bytes of the list of files
	maxDiagnostics = 20       // diagnostics of an edit whose answer is too long
	maxNames       = 40       // files that an error names
	defaultList    = 20       // skills of a list
	maxList        = 100
)

// The bounds of running a skill.
const (
	maxFolderFiles = 200     // files of a skill in a folder
	maxDoc         = 1 << 20 // bytes of a doc
	maxParams      = 64      // parameters that a skill declares
	maxName        = 256     // bytes of the name of a parameter
	maxRendered    = 1 << 20 // bytes of a text with its values
)
