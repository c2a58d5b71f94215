package core

import "context"

// Ask is a question to a person: may this call be made? The runtime asks if no list of allowed
// tools grants or denies the call.
type Ask struct {
	Key  SessionKey `json:"key"`
	Call ToolCall   `json:"call"`
	// Skills are the names of the loaded skills, in load order.
	Skills []string `json:"skills,omitempty"`
	// Reason says why nothing else has decided, for example "no list".
	Reason string `json:"reason"`
	// Detail shows in full what the call would do, such as the numbered diff of an edit. It
	// is empty if the arguments of the call show it.
	Detail string `json:"detail,omitempty"`
	// Lasting says what [AnswerSession] would allow: this very call, or every call of its tool.
	Lasting string `json:"lasting"`
	// Bound identifies what the answer applies to: the call, and the loaded skills
	// with their contents. An answer to a question with another Bound does not
	// count.
	Bound string `json:"bound"`
}

// Answer is the decision of an [Approver].
type Answer string

// The answers. Any other value counts as [AnswerDeny].
const (
	AnswerAllow   Answer = "allow"   // this call
	AnswerSession Answer = "session" // for the session, as the question says
	AnswerDeny    Answer = "deny"    // this call
)

// Approver decides on calls that no list grants or denies, usually by asking a person. It may
// be called for several calls at once. An error ends the run of the agent, so a framework can
// also interrupt the run with it.
type Approver func(ctx context.Context, ask Ask) (Answer, error)
