package check

import "time"

const (
	// maxExitCode is the largest exit code of a program.
	maxExitCode = 255
	// maxQuoted is how much of a text evidence quotes, in bytes.
	maxQuoted = 200
	// maxNamed is how many files evidence names.
	maxNamed = 5
	// maxJSON is the largest JSON file that is read, in bytes. It is decoded in memory.
	maxJSON = 16 << 20
	// maxPointer is the length of a JSON pointer, in bytes.
	maxPointer = 4 << 10
)

// Bounds of a script and of the folder that is copied for it.
const (
	scriptTimeout = time.Minute
	// maxOutput is how much of the output of a script is kept, in bytes.
	maxOutput = 4 << 10
	// maxSkillFiles and maxSkillBytes bound the copy of a skill's folder.
	maxSkillFiles = 2000
	maxSkillBytes = 64 << 20
	// maxFirstLine is how much of a script is read for its shebang line, in bytes.
	maxFirstLine = 512
)
