package deps

import "time"

// Bounds of the files of a skill that name packages. Files of real skills are a tenth of
// these at most.
const (
	maxRequirements = 500     // lines
	maxFileBytes    = 4 << 20 // a lock file of npm with maxLocked packages
	maxLine         = 2000    // bytes
	maxLocked       = 5000    // packages of a lock file
)

// maxQuoted bounds the text that an error quotes, in bytes.
const maxQuoted = 120

// maxMaking is the age at which a directory of an installation counts as left by a crash: no
// installation takes a day.
const maxMaking = 24 * time.Hour
