package eval

import "time"

// Bounds of suites. The largest published suites have a few dozen requests.
const (
	// maxSuite is the largest file of a suite, in bytes.
	maxSuite = 4 << 20
	// maxYAMLNodes is how many values a YAML file may have, and maxYAMLDepth how many inside each
	// other.
	maxYAMLNodes, maxYAMLDepth = 500_000, 100
	// maxQueries and maxEvals are how many requests a file may have.
	maxQueries = 10_000
	maxEvals   = 1_000
	// maxText is the longest text of a field, in bytes.
	maxText = 64 << 10
	// maxListed is how many files or assertions an eval may have.
	maxListed = 100
	// maxID is the longest id of an eval, in bytes.
	maxID = 200
	// maxShown is how many bytes of a wrong value an error shows.
	maxShown = 200
	// maxNamePart is how much of the name of a skill the name of a trial has, in bytes.
	maxNamePart = 40
	// maxState is the largest state file, in bytes. It is read whole.
	maxState = 256 << 20
	// maxInput is the largest file of an eval, in bytes. It is kept in memory while a trial runs.
	maxInput = 64 << 20
	// maxJudged is how much of an answer a judge sees, in bytes, and maxJudgedFiles how many files that
	// the conversation has made.
	maxJudged, maxJudgedFiles = 64 << 10, 20
	// maxVerdict is the longest answer of a judge, in bytes.
	maxVerdict = 16 << 10
	// maxWords is how many words say why a skill stands before another.
	maxWords = 20
	// maxReasonWords is how many of them the reason of a query names.
	maxReasonWords = 3
)

// Bounds of assertions and of what is read for them.
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
