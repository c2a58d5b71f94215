package call

const (
	// maxAgentName bounds the name of an agent in the arguments of a transfer, in bytes. A
	// longer one is no agent's.
	maxAgentName = 256
	// maxBoundFiles and maxBoundBytes bound the files of a skill that are read for an
	// approval. An approval of a call that names a larger skill covers that one call.
	maxBoundFiles = 512
	maxBoundBytes = 16 << 20
	// maxKept bounds an answer of a host's own handler, in bytes: it is pinned, and stands in
	// all later views.
	maxKept = 4 << 10
	// maxKeptAnswer bounds an answer that a record holds itself, in bytes. A longer one is
	// pinned, because a record holds those of all calls of a response.
	maxKeptAnswer = 2 << 10
	// maxUnknown bounds the answer to a call of a tool that does not exist, in bytes, and
	// maxEchoed the tool's name in it, with quotes and escapes. Later views have the answer.
	maxUnknown = 400
	maxEchoed  = 96
	// maxNamed is how many tools one sentence of an answer names; it counts the others.
	maxNamed = 40
	// maxNested bounds how deep JSON is read, in levels: it is the depth of the stack too.
	maxNested = 64
)
