package prompt

// maxBytes bounds a file of captures, in bytes. Captures of long conversations have some
// megabytes.
const maxBytes = 256 << 20

// Bounds of [Pieces], in bytes and pieces.
const (
	// maxPart is how much of a piece is encoded at a time.
	maxPart = 64 << 10
	// maxShort is the length of pieces whose tokens are remembered, and maxPieces their number.
	maxShort  = 64
	maxPieces = 1 << 17
	// maxNews is how many new pieces are encoded before the whole vocabulary is read.
	maxNews = 20_000
)
