package prompt

// maxBytes bounds a file of captures, in bytes. Captures of long conversations have some
// megabytes.
const maxBytes = 256 << 20

// Bounds of [Pieces], in bytes and pieces.
const (
	// maxPart is how much of a piece is encoded at a time.
	maxPart = 64 << 10
	// maxScanned is the length of pieces whose least pair is looked for among all. It is below 256.
	maxScanned = 64
	// maxNews is how many bytes of new pieces are encoded before the ranks are read.
	maxNews = 64 << 10
)
