package call

import "time"

const (
	// maxAgentName bounds the name of an agent in the arguments of a transfer, in bytes. A call
	// with a longer name is not treated as a transfer.
	maxAgentName = 256
	// maxBoundFiles and maxBoundBytes bound the files of a skill that are read for an approval.
	// An approval that concerns a larger skill covers only one call.
	maxBoundFiles = 512
	maxBoundBytes = 16 << 20
	// maxPinnedAnswer bounds an answer of a host's own handler, in bytes. The answer is pinned,
	// and all later views show it.
	maxPinnedAnswer = 4 << 10
	// maxKeptAnswer bounds an answer within a record, in bytes. Longer answers are pinned,
	// because a record holds the answers of all calls of a response.
	maxKeptAnswer = 2 << 10
	// maxForkError bounds the error of a fork in its answer, in bytes. maxForkEnd is how long a
	// cancelled fork may take to end.
	maxForkError = 400
	maxForkEnd   = 5 * time.Second
	// maxUnknown bounds the answer to a call of a tool that does not exist, in bytes, because
	// later views show it. maxQuoted bounds the quoted name in it.
	maxUnknown = 400
	maxQuoted  = 96
	// maxNamed is how many tools one sentence of an answer names. It counts the others.
	maxNamed = 40
	// maxNested bounds the nesting of JSON, in levels, and so the depth of the stack.
	maxNested = 64
)
