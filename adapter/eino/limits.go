package eino

// maxRuns bounds the anonymous runs that an adapter remembers at one time. A run is forgotten
// when the collector finds the state of its graph. Only a host with this many live runs, or
// one that keeps every graph state, reaches the bound. Then the run that has been idle longest
// loses what it loaded.
const maxRuns = 4096

// maxMisread bounds the part of an error of [misread] that the model sees, in bytes: decoders
// repeat what they have read.
const maxMisread = 1 << 10

// Bounds of the answer to a call of a handover to an agent that does not exist.
const (
	// maxAgents bounds the agents that the answer names.
	maxAgents = 16
	// maxAgentName bounds each of their names, in bytes.
	maxAgentName = 64
)
