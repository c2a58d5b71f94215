package satcheltest

import "time"

// bodyLimit limits the body of a request, in bytes: no provider accepts more.
const bodyLimit = 64 << 20

// bytesPerToken is how many bytes count as a token in the estimated usage.
const bytesPerToken = 4

// Sizes of the pieces of a streamed answer, in runes. They are small, so that a client fails if
// it cannot join pieces.
const (
	textPiece     = 12
	argumentPiece = 7
)

// headerTimeout is how long a client may take to send its headers.
const headerTimeout = 10 * time.Second
