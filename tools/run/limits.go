package run

import "time"

const (
	// defaultPerSession is how many commands of skill_run a session may run at once.
	defaultPerSession = 4
	// maxTimeout bounds the timeout that a call may ask for.
	maxTimeout = 24 * time.Hour
	// minCeiling is the timeout that a call may always ask for, unless the host
	// sets a MaxTimeout.
	minCeiling = 10 * time.Minute
	// maxArgument is the maximum length, in bytes, that Linux accepts for an
	// argument, or for a variable with its name.
	maxArgument = 128<<10 - 1
)

// These values bound how long a call waits for output. The wait ends early if the command
// ends or asks for input.
const (
	defaultYield = time.Second
	maxYield     = time.Minute
)

// The size of a terminal in characters, wide enough that programs wrap few lines.
const (
	terminalRows = 40
	terminalCols = 120
)

// Bounds for attached files.
const (
	maxAttached      = 1000 // are staged, as workspace.Attach allows
	maxAttachedNotes = 10   // warnings; a chat may contain many pictures that are only links
	maxShownName     = 255  // bytes
	// headBytes of a file are enough to detect its type.
	headBytes = 3 << 10
)

const (
	// reserve is kept free in an answer, in bytes, for warnings that are added later.
	reserve = 2 << 10
	// maxHintOutput is how many bytes of the end of each stream are searched for the cause
	// of a failure. Programs report it in their last lines.
	maxHintOutput = 16 << 10
	// maxRef bounds a workspace file or artifact that skill_read reads, in bytes.
	maxRef = 16 << 20
	// maxVisible bounds how many directories of the host a description names.
	maxVisible = 8
)

// The most that is looked at to find out where a command goes.
const (
	maxNamed = 16        // files that a command names
	maxHead  = 256 << 10 // bytes of a script
	maxNames = 10_000    // names in one directory
)

const (
	// maxSecretBytes bounds the secrets that a secretHistory holds, and
	// maxSessionSecrets their number in one session.
	maxSecretBytes, maxSessionSecrets = 1 << 20, 64
	// maxEditors bounds the names that are tried for an editor.
	maxEditors = 100
)
