package eino

// maxRuns limits the anonymous runs that an adapter remembers at one time. An adapter forgets a
// run when the collector frees the state of its graph. So only a host with this many live runs,
// or one that keeps every graph state, reaches the limit. Then the run that has been idle
// longest loses its loads.
const maxRuns = 4096

// maxMisread limits how much of a decoder's error [misreadAnswer] shows to the model, in bytes:
// decoders repeat the text that they read.
const maxMisread = 1 << 10

// Limits of the answer to a transfer to an agent that does not exist.
const (
	// maxAgents is the most agents that the answer names.
	maxAgents = 16
	// maxAgentName limits each of their names, in bytes.
	maxAgentName = 64
)

// maxOpenings limits the agents of which an adapter keeps the last request for forks. A fork of another
// agent begins without its system text and history, unless adk has them.
const maxOpenings = 512
