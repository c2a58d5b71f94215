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

	// maxRare is how many descriptions may have a term that still tells one skill from the
	// others.
	maxRare = 2
	// maxBeginning is how many bytes of a body stand for a description that is not known.
	maxBeginning = 400
	// maxBody is how many bytes of a body are searched for names of files.
	maxBody = 64 << 10
	// maxPromptEnd is how many bytes of the beginning and of the end of a prompt are read.
	maxPromptEnd = 4 << 10
)
