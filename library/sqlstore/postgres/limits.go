package postgres

import "time"

const (
	// defaultConns is how many connections a store uses, beside the one that listens. Few are
	// enough, because a query takes about a millisecond.
	defaultConns = 8
	// connectTime is how long a connection may take to be made.
	connectTime = 10 * time.Second
	// idleTime is how long a connection that is not used stays open.
	idleTime = time.Minute
	// firstPause and maxPause are the pauses between attempts to listen again.
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	// closeTime is how long the end of the listening connection may take.
	closeTime = time.Second
)
