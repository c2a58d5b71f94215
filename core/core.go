// Package core holds the nouns that every room of Satchel shares: the skill,
// the message, the request, the tool and its call, the decision of a gate, the
// event. It imports the standard library only, does no I/O and knows no agent
// framework.
package core

// SessionKey names one record of state: what one agent has loaded in one
// session. A sub-agent has a key of its own, so its loads never reach its
// parent.
type SessionKey struct {
	// Session is the host's identifier of the conversation.
	Session string
	// Agent is the name of the agent in that conversation; "" is a host that
	// has only one.
	Agent string
	// Anonymous is set where Session was made up for one run of a host that named no
	// conversation. Only adapter.Runtime.Anonymous sets it: a session of the host with
	// the same id is another one.
	Anonymous bool
}
