package turn

import "time"

const (
	// maxNumberWait is how long an answer waits until the store has the number of its call for a trace. Models
	// take longer than stores, so few answers wait at all.
	maxNumberWait = 20 * time.Millisecond
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
