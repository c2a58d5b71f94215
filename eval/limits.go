package eval

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
