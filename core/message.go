package core

// Role says who wrote a message.
type Role uint8

// The roles of a request, in the sense of the OpenAI chat format.
const (
	System Role = iota
	User
	Assistant
	ToolResult
)

// String returns the role as the OpenAI chat format spells it.
func (r Role) String() string {
	switch r {
	case System:
		return "system"
	case User:
		return "user"
	case Assistant:
		return "assistant"
	case ToolResult:
		return "tool"
	}
	return "unknown"
}

// Inserted is the Origin of a message that Satchel adds to a request: a system message, or the
// result of a call that has none.
const Inserted = -1

// Message is one message of a framework's request. It shares the framework's strings instead of
// copying them.
type Message struct {
	Role Role
	// Text is the text of the message. If the message has several parts, Text is all text parts
	// one after the other.
	Text string
	// Calls are the tool calls of an assistant message, in order.
	Calls []ToolCall
	// CallID and Tool name the call that a tool result answers. Either may be
	// empty where the framework does not know it.
	CallID string
	Tool   string
	// Rewritten reports a user message that no user wrote: the framework made it from another
	// agent's messages.
	Rewritten bool

	// Origin is the message's index in the framework's request, or [Inserted].
	Origin int
	// Added is the text that the view appended to Text, including the separator;
	// Text then ends with it. If it is empty the message passes through untouched.
	Added string
}

// Request is a request that a framework is about to send to a model, before Satchel adds to it.
type Request struct {
	Key      SessionKey
	Messages []Message
	// Summary reports that the host replaced part of the history by a summary.
	Summary bool
	// Files are the files that users attached to the messages, in the order of the messages. The
	// runtime keeps them for the tool calls until the next request, so the caller must not change
	// the slice.
	Files []File
	// Tools are the names of all tools that the model is offered. The runtime keeps the slice as
	// it keeps Files.
	Tools []string
	// Definitions are the definitions of those tools, in the order in which they are sent. Only a
	// runtime with a prefix guard needs them. The runtime does not keep the slice.
	Definitions []Definition
	// Space is memory for the messages of the view, which is used if it is large enough. It must
	// not overlap Messages. The caller may use it again when it no longer needs the view. It may
	// be nil.
	Space []Message
}

// View is a request as Satchel wants it sent to the model.
type View struct {
	// Messages are the request's messages with Satchel's additions. An adapter passes on by
	// reference a message whose Added is empty and whose Origin is not [Inserted]. It edits
	// copies of the others.
	Messages []Message
	// NoSkills reports that the agent sees no skill in this session. Satchel's tools must then
	// not be offered. It is constant for a session.
	NoSkills bool
	// Trace describes the view for a tracer. It is nil if the runtime has none.
	Trace *ViewTrace
}
