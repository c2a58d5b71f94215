package prompt

// maxBytes bounds a file of captures, in bytes. Captures of long conversations have some
// megabytes.
const maxBytes = 256 << 20

// Bounds of [Pieces], in bytes and goroutines.
const (
	// maxPart is how much of a piece is encoded at a time, and about the size of a batch.
	maxPart = 64 << 10
	// maxNews is how many bytes of new pieces are encoded before the ranks are read.
	maxNews = 64 << 10
	// minRepeated is the size of pieces of which the last one is remembered: a long piece often repeats its parts.
	minRepeated = 1 << 10
	// minParallel is the size of texts that several goroutines encode.
	minParallel = 4 * maxPart
	maxWorkers  = 8
)
