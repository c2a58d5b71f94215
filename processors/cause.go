package processors

// Cause says why a request does not begin with the one before it:
//
//   - "turn": a turn began, and the content of the last one was cleared.
//   - "unload": content was unloaded, evicted, replaced or deselected, or has been shown once.
//   - "system": the system message holds content that has changed.
//   - "fallback": the message of content without a place came, went or changed.
//   - "overview": the overview was written again.
//   - "tools": the host added, removed, moved or changed a tool.
//   - "host": the host changed, removed or inserted a message of its own.
//   - "unknown": text of Satchel's changed, and nothing says why. Report it.
//
// The default view promises that only the first two occur.
type Cause string
