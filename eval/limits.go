package eval

// Bounds of suites. The largest published suites have a few dozen requests.
const (
	// maxSuite is the largest file of a suite, in bytes.
	maxSuite = 4 << 20
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
)
