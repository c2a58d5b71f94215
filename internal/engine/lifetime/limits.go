package lifetime

const (
	// maxTokens is how many tokens of earlier turns a record keeps. A request with an older token
	// would begin a new turn, so this is more than a host has in flight.
	maxTokens = 32
	// MaxReturns is how many skills [state.Returns] lists by name. The counts of the skills that
	// were not loaded for the longest time are added up. So the list takes less than half a
	// kilobyte.
	MaxReturns = 16
	// maxHorizon bounds how many future turns [Clear] considers.
	maxHorizon = 50
)
