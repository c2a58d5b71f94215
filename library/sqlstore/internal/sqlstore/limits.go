package sqlstore

import "time"

const (
	// attempts is how often a transaction is begun that other transactions made fail, with
	// pauses of firstPause, four times that, nine times … between them: 275 ms in all.
	attempts   = 6
	firstPause = 5 * time.Millisecond
	// defaultEntries is how many entries of the audit a query without a limit returns, as
	// library.LogQuery says.
	defaultEntries = 1000
)
