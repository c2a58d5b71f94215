package turn

import "time"

const (
	// maxCalls is how many calls of Satchel's tools one response may have. Each may need an entry
	// of the record, and each reads the record.
	maxCalls = 256
	// maxMentions is how many names in one message are looked up.
	maxMentions = 64
	// maxSearched is how many runes at each end of a message are used to find likely skills.
	maxSearched = 500
	// refreshDelay is the time from a change of a source to the refresh of the catalog. It is
	// longer than the rest of a call takes, and much shorter than a call of the model.
	refreshDelay = 10 * time.Millisecond
	// refreshPause is the shortest time between two refreshes of the catalog, so that one refresh
	// covers many changes of a source.
	refreshPause = 100 * time.Millisecond
)
