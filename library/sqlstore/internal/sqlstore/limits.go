package sqlstore

import "time"

const (
	// attempts is how often a transaction is tried that fails because of other transactions. The
	// pauses between them are firstPause, 4 times that, 9 times that …: 275 ms in all.
	attempts   = 6
	firstPause = 5 * time.Millisecond
	// defaultEntries is how many entries of the audit a query without a limit returns, as
	// library.LogQuery says.
	defaultEntries = 1000
)
