package otel

// Bounds of the events that wait for the end of their call. An event that does not fit becomes
// a span without the call as its parent.
const (
	// maxCalls is how many calls may be open.
	maxCalls = 1024
	// maxEvents is how many events of one call are buffered.
	maxEvents = 64
)
