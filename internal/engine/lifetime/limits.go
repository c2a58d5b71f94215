package lifetime

const (
	// maxTokens is how many tokens of earlier turns a record keeps. A turn with an older
	// token begins again, so it is more than a host has in flight.
	maxTokens = 32
	// MaxReturns is how many skills a session keeps returns of by name. Those that were not
	// loaded for the longest time are kept in sum. A record has room for less than half a
	// kilobyte of them.
	MaxReturns = 16
	// maxHorizon bounds how many further turns the decision to clear reckons with.
	maxHorizon = 50
)
