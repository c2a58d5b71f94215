package turn

import "time"

const (
	// maxCountTime is how long a model call waits until the store has its number for a trace.
	maxCountTime = 2 * time.Second
	// maxCalls is how many calls of Satchel's tools one response may have. Each may need an entry
	// of the record, and each reads the record.
	maxCalls = 256
	// maxMentions is how many names in one message are looked up.
	maxMentions = 64
	// maxSearched is how many runes at each end of a message are used to find likely skills.
	maxSearched = 500
	// defaultSuggestions is how many skills a message suggests, unless the host says otherwise. A
	// message rarely needs more.
	defaultSuggestions = 3
)
