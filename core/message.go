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

// Inserted is the Origin of a message that Satchel adds to a request: a system message, or
// the result of a call that had none.
const Inserted = -1

// Message refers to one message of a framework's request. It shares the strings of
// the framework and copies none of them.
type Message struct {
	Role Role
	// Text is the message's text: for a message of several parts, its text
	// parts one after the other.
	Text string
	// Calls are the tool calls of an assistant message, in order.
	Calls []ToolCall
	// CallID and Tool name the call that a tool result answers. Either may be
	// empty where the framework does not know it.
	CallID string
	Tool   string
	// Rewritten marks a user message that no user wrote: a framework's history
	// rewriter made it from another agent's messages.
	Rewritten bool

	// Origin is the message's index in the framework's request, or [Inserted].
	Origin int
	// Added is the text that the view appended to Text, including the separator;
	// Text then ends with it. If it is empty the message passes through untouched.
	Added string
}

// Request is a request of the framework to a model, before Satchel adds to it.
type Request struct {
	Key      SessionKey
	Messages []Message
	// Summary reports that the host replaced part of the history by a summary.
	Summary bool
	// Files are what users attached to the messages, in their order. They are
	// kept for the tool calls that follow, until the next request, so the
	// caller must not change the slice any more.
	Files []File
	// Tools are the names of the tools that the model is offered, Satchel's or
	// not. They are kept like Files.
	Tools []string
	// Definitions are those tools in the order in which they are sent. Only a
	// runtime that watches the prefix needs them. The slice is not kept.
	Definitions []Definition
	// Space is memory in which the view is made if it has room for it; it must not
	// overlap Messages. The caller may use it again when it no longer needs the
	// view. Nil is allowed.
	Space []Message
}

// View is the request as it should be sent.
type View struct {
	// Messages are the request's messages with what Satchel adds. An adapter
	// passes a message whose Added is empty and whose Origin is not [Inserted]
	// by reference, and edits copies of the others.
	Messages []Message
	// NoSkills reports that this session sees no skill. Then Satchel's tools must not be
	// offered. It is constant for a session.
	NoSkills bool
}
