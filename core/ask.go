package core

import "context"

// Ask is the question whether a call may be made that no list of allowed tools
// grants or denies.
type Ask struct {
	Key  SessionKey `json:"key"`
	Call ToolCall   `json:"call"`
	// Skills are the names of the loaded skills, in load order.
	Skills []string `json:"skills,omitempty"`
	// Reason says why nothing has decided, such as "no list".
	Reason string `json:"reason"`
	// Lasting says what an answer for the session would allow: this very call,
	// or any call of its tool.
	Lasting string `json:"lasting"`
	// Bound identifies what the answer is about: the call and the loaded skills
	// with their contents. An answer to a question with another Bound is none.
	Bound string `json:"bound"`
}

// Answer is what an [Approver] answers.
type Answer string

// The answers. Any other one is [AnswerDeny].
const (
	AnswerAllow   Answer = "allow"   // this call
	AnswerSession Answer = "session" // for the session, as the question says
	AnswerDeny    Answer = "deny"    // this call
)

// Approver decides on calls that no list has decided on, usually by asking a
// person. It may be called for several calls at once. An error ends the run of
// the agent, and may so be a framework's way to interrupt it.
type Approver func(ctx context.Context, ask Ask) (Answer, error)
