package langchaingo

// maxRuns limits the Calls that an adapter remembers at one time. An executor that stops at its
// iteration limit does not report that, so its Call stays until this many others have begun.
const maxRuns = 1024

// maxStarts limits the model calls whose end a handler waits for: some clients never report the
// end of a failed call.
const maxStarts = 256

// maxMarks is the number of cache marks that Anthropic takes in one request.
const maxMarks = 4

// maxScalar limits the bytes that are parsed again with each piece of a streamed call, if its
// arguments are neither an object nor a list.
const maxScalar = 4096

// shortList is the number of tools up to which a search of the list is faster than a map.
const shortList = 32

// Limits of [Conversations].
const (
	// maxConversations is the most sessions. A further one replaces the one that began first.
	maxConversations = 1000
	// maxTurnMessages is the most messages of one session and agent.
	maxTurnMessages = 1000
)

// Limits of [LongLines], in bytes.
const (
	// longestLine is the longest line that is passed on unchanged: the client takes 64 KiB.
	longestLine = 60 << 10
	// largestLine is the longest line that is split. A longer one fails in the client.
	largestLine = 32 << 20
	// longestName limits the name of a tool and the id of a call in a line that is split.
	longestName = 1 << 10
)

// Sizes of the table of texts that are known to be JSON: 16,384 hashes in 128 KiB.
const (
	maxHashSets  = 4096
	hashesPerSet = 4
)

// maxOpenings limits the agents of which an adapter keeps the last request for forks. A fork of another
// agent begins without its system text and history.
const maxOpenings = 512
