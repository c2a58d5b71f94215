package run

import "time"

const (
	// defaultPerSession is how many commands of skill_run a session may run at once.
	defaultPerSession = 4
	// maxTimeout bounds the timeout that a call may ask for.
	maxTimeout = 24 * time.Hour
	// minCeiling is the timeout that a call may always set, unless the host sets a MaxTimeout.
	minCeiling = 10 * time.Minute
	// maxProbeLine is how many bytes a search for programs may print for one program.
	maxProbeLine = 8
	// maxArgument is the maximum length, in bytes, of an argument on Linux, or of a variable with
	// its name.
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
	// answerReserve is left free in an answer, in bytes, for warnings that are added later.
	answerReserve = 2 << 10
	// maxHintOutput is how many bytes at the end of each stream are searched for the cause of a
	// failure, because programs report it in their last lines.
	maxHintOutput = 16 << 10
	// maxRef bounds a workspace file or an artifact that skill_read reads, in bytes.
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
	// maxSecretBytes bounds all secrets in a secretHistory, in bytes. maxSessionSecrets bounds
	// their number in one session.
	maxSecretBytes, maxSessionSecrets = 1 << 20, 64
	// maxEditors is how many file names are tried for the program of $EDITOR.
	maxEditors = 100
)
