package deps

import "time"

// Bounds of the files of a skill that name packages. Files of real skills have at most a tenth
// of these sizes.
const (
	maxRequirements = 500     // lines
	maxFileBytes    = 4 << 20 // a lock file of npm with maxLocked packages
	maxLine         = 2000    // bytes
	maxLocked       = 5000    // packages of a lock file
)

// maxQuoted bounds the text that an error quotes, in bytes.
const maxQuoted = 120

// maxInstall is the age at which a directory of an installation counts as left by a crash: no
// installation takes a day.
const maxInstall = 24 * time.Hour

// Time that a program has to close its output after it has ended. Then its child processes are
// ignored.
const (
	installWait = 5 * time.Second
	versionWait = time.Second
)
