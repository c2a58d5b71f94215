package langchaingo

// maxRuns bounds the Calls that an adapter remembers at one time. An executor that stops at its
// iteration limit does not report it, so its Call stays until this many others have begun.
const maxRuns = 1024

// maxStarts bounds the model calls for whose end a handler waits: some clients never report
// the end of a call that failed.
const maxStarts = 256

// maxMarks is the number of cache marks that Anthropic takes in one request.
const maxMarks = 4

// maxScalar bounds the bytes that are read again with each piece of a streamed call whose
// arguments are neither an object nor a list.
const maxScalar = 4096

// Bounds of [Conversations].
const (
	// maxConversations bounds the sessions. The one that began first goes.
	maxConversations = 1000
	// maxTurnMessages bounds the messages of one session and agent.
	maxTurnMessages = 1000
)

// Bounds of [LongLines], in bytes.
const (
	// longestLine is the longest line that is passed on: the client takes 64 KiB.
	longestLine = 60 << 10
	// largestLine is the longest line that is cut. A longer one fails in the client.
	largestLine = 32 << 20
	// longestName bounds the name of a tool and the id of a call in a line that is cut.
	longestName = 1 << 10
)
