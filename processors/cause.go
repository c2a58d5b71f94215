package processors

// Cause says why a request does not begin with the one before it.
type Cause string

// The causes. The default view promises that only the first two occur.
const (
	CauseTurn     Cause = "turn"     // a turn began and the content of the last was cleared
	CauseUnload   Cause = "unload"   // content was unloaded, evicted, replaced or deselected, or has had its one showing
	CauseSystem   Cause = "system"   // the system message holds content that has changed
	CauseFallback Cause = "fallback" // the message of content without a place came, went or changed
	CauseOverview Cause = "overview" // the overview was written again
	CauseTools    Cause = "tools"    // the host added, removed, moved or changed a tool
	CauseHost     Cause = "host"     // the host changed, removed or inserted a message of its own
	CauseUnknown  Cause = "unknown"  // text of Satchel's changed and nothing says why: report it
)
