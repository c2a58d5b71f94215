package otel

// Bounds of the events that wait for the end of their call. An event that does not fit becomes
// a span without the call as its parent.
const (
	// maxCalls is how many calls may be open.
	maxCalls = 1024
	// maxEvents is how many events of one call are buffered.
	maxEvents = 64
)

// Bounds of the counters of skills.
const (
	// maxSkillNames is how many skills have a count of their own.
	maxSkillNames = 200
	// maxAgents is how many agents' offers and texts are remembered. Offers of others count only in the
	// turn in which they change, and texts of others do not count.
	maxAgents = 4096
	// maxTexts is how many texts of an agent count.
	maxTexts = 256
)
