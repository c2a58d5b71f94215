package trace

import "time"

// Bounds of what waits to be written. What does not fit is dropped and counted.
const (
	maxQueued      = 20_000   // events, requests and answers
	maxQueuedBytes = 96 << 20 // of their texts; a message that two requests share counts once
	maxHeld        = 256      // events of one agent that wait for its next call
)

// Bounds of what is remembered. What is forgotten makes the trace longer, but not wrong, unless a
// comment says more.
const (
	maxAgents     = 10_000    // agents with loads; loads of a forgotten agent have no call
	maxNumbered   = 100_000   // agents whose calls are numbered; a forgotten agent begins at 1 again
	maxViews      = 192 << 20 // bytes of the last requests of agents, with their tokens
	maxMeasured   = 32 << 20  // bytes of tokens of messages
	maxOpenCalls  = 10_000    // calls without an answer
	maxToolCalls  = 1_000     // tool calls of an agent whose calls are known
	maxKnown      = 1 << 20   // messages and tools that a file has
	maxScratch    = 1 << 20   // bytes of the buffer for lines that is used again
	maxUnchecked  = 10_000    // tokens that are counted before Close is asked whether it waits
	stringWeight  = 32        // bytes of a text of a list besides its characters
	messageWeight = 256       // bytes of a message besides its text
	lineWeight    = 200       // bytes of a line besides its message
	longWeight    = 256 << 10 // bytes of a request or an answer with long texts
)

// Times.
const (
	holdTime  = 500 * time.Millisecond  // that an event waits for the next call of its agent
	drainTime = 1500 * time.Millisecond // in which Close writes what is queued
	stopTime  = 1800 * time.Millisecond // after which Close stops a write that blocks
	closeTime = 2 * time.Second         // after which Close returns
	pollTime  = 20 * time.Millisecond   // between attempts to open a pipe that has no reader
)

// defaultSize is the size of a file in bytes, and minSize the least that [Size] takes.
const (
	defaultSize = 64 << 20
	minSize     = 1
)
