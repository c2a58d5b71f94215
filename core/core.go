// Package core holds the types that all packages of Satchel share: the skill, the message,
// the request, the tool and its call, the decision of a gate, the event. It imports the
// standard library only, does no I/O and knows no agent framework.
package core

// SessionKey identifies the state of one agent in one session. A sub-agent has a key of its
// own, so its loads never reach its parent.
type SessionKey struct {
	// Session is the host's identifier of the conversation.
	Session string
	// Agent is the name of the agent in that conversation; "" if the host has only one.
	Agent string
	// Anonymous reports that the host named no conversation, and that Session is an id generated
	// for one run. Only adapter.Runtime.Anonymous sets it. A session of the host with the same id
	// has different state.
	Anonymous bool
}
