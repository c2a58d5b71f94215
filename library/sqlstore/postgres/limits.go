package postgres

import "time"

const (
	// defaultConns is how many connections a store uses, beside the one that listens. A query
	// takes about a millisecond, so few are enough.
	defaultConns = 8
	// connectTime is how long connecting may take.
	connectTime = 10 * time.Second
	// idleTime is how long a connection that is not used stays open.
	idleTime = time.Minute
	// firstPause and maxPause are the pauses between attempts to listen again.
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	// closeTime is how long closing the listening connection may take.
	closeTime = time.Second
)
