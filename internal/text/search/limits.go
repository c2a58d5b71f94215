package search

const (
	// maxReaders bounds the goroutines that read documents: more do not make it faster.
	maxReaders = 8
	// maxPhrasings is how many wordings of a query count, and maxPhrasing the runes of each.
	maxPhrasings = 8
	maxPhrasing  = 500
	// maxNameWords is how many words a name may have if a user writes it with spaces.
	maxNameWords = 5
	// maxBody is how much of the prose of a body is indexed, in bytes. A skill's purpose is at
	// its beginning.
	maxBody = 8 << 10
	// maxTerm is the longest term, in bytes: a longer one is data, not a word.
	maxTerm = 64
)

const (
	// MaxCompared is the greatest length of texts that Distance compares. Its time grows with
	// the square of the length.
	MaxCompared = 128
	// maxPath bounds, in bytes, the path for NearestFile. No file system has longer paths.
	maxPath = 4096
)
