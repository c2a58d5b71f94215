package processors

// Cause says why a request does not begin with the one before it:
//
//   - "turn": a turn began, and content of the last one was removed.
//   - "unload": content was unloaded, evicted, replaced or deselected, or mode Once removed it.
//   - "system": content in the system message has changed.
//   - "fallback": the message with content that fits nowhere else appeared, vanished or changed.
//   - "overview": the overview changed.
//   - "tools": the host added, removed, moved or changed a tool.
//   - "host": the host changed, removed or inserted a message of its own.
//   - "unknown": text of Satchel changed for an unknown reason. Report it as a bug.
//
// The default view promises that only the first two occur.
type Cause string
