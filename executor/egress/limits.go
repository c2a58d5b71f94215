package egress

import "time"

// These limits replace the zero fields of Limits. A skill talks to a few services and
// fetches documents; a program that does more than this is a crawler or a leak.
const (
	defaultConnections = 16       // at once, each with two buffers
	defaultTotal       = 512      // connections of a run
	defaultBytes       = 64 << 20 // in each direction, in the whole run
	defaultHeader      = 64 << 10 // bytes of a header: large cookies fit
	defaultDial        = 10 * time.Second
	defaultHello       = 5 * time.Second
	defaultIdle        = 30 * time.Second
)

// Bounds of what a program or a host sends.
const (
	// maxAnswers bounds the addresses of a name that are checked.
	maxAnswers = 64
	// maxHello bounds the beginning of a handshake in bytes: a ClientHello that needs more
	// than four records is none.
	maxHello = 1 << 16
	// maxName and maxLabel are the longest name and part of a name in bytes, by RFC 1035.
	maxName, maxLabel = 253, 63
	// minValue and minPlaceholder are the least lengths of secrets in bytes: any text may hold
	// shorter ones by chance.
	minValue, minPlaceholder = 8, 16
	// maxFilled bounds the values of the headers of a request with a secret in them, in
	// bytes: four times the default of Limits.Header.
	maxFilled = 256 << 10
)
