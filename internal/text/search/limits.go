package search

const (
	// maxPhrasings is how many wordings of a query count, and maxPhrasing the runes of each.
	maxPhrasings = 8
	maxPhrasing  = 500
	// maxNameWords is how many words a name has that is written with spaces.
	maxNameWords = 5
	// maxBody is how much of the prose of a body is indexed, in bytes: what a skill is for stands
	// at its beginning.
	maxBody = 8 << 10
	// maxTerm is the longest term, in bytes: what is longer is data, not a word.
	maxTerm = 64
)

const (
	// MaxCompared is the length of the longest texts that are compared: the time grows with the
	// square.
	MaxCompared = 128
	// maxAsked bounds, in bytes, the path that is compared with each file: no file system
	// has longer ones.
	maxAsked = 4096
)
