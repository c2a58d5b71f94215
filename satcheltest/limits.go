package satcheltest

// bodyLimit bounds the body of a request, in bytes: no provider takes more.
const bodyLimit = 64 << 20

// bytesPerToken estimates tokens where a script gives no usage.
const bytesPerToken = 4

// Sizes of the pieces of a streamed answer, in runes. They are small, so that a client that
// handles only whole answers fails.
const (
	textPiece     = 12
	argumentPiece = 7
)
