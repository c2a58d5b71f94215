package turn

import "time"

const (
	// maxCalls is how many calls of the runtime's own tools one response may have. Each may
	// be an entry of the record, which each of them reads.
	maxCalls = 256
	// maxMentions is how many names in one message are looked up.
	maxMentions = 64
	// maxSearched is how much of each end of a message is searched for, in runes. A request
	// stands before or behind what was pasted.
	maxSearched = 500
	// refreshPause is how long changes of a source are gathered before the catalog is read
	// again.
	refreshPause = 100 * time.Millisecond
)
