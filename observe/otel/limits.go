package otel

// Bounds of the events that wait for the end of their call. An event that does not fit becomes
// a span without the call as its parent.
const (
	// maxCalls bounds the calls that have not ended.
	maxCalls = 1024
	// maxTold bounds the events of one call.
	maxTold = 64
)
