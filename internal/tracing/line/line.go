// Package line holds the types of the lines of a trace. A trace is a file of JSON objects, one in
// each line. docs/traces.md describes it for readers.
package line

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Version is the version of the lines, and Schema names it in the first line of a file.
const (
	Version = 1
	Schema  = "satchel.trace/1"
)

// The events of a trace.
const (
	EventTrace     = "trace"
	EventMessage   = "message"
	EventTools     = "tools"
	EventTurn      = "turn"
	EventOffered   = "offered"
	EventSuggested = "suggested"
	EventCall      = "call"
	EventAnswer    = "answer"
	EventError     = "error"
	EventLoaded    = "loaded"
	EventUnloaded  = "unloaded"
	EventCleared   = "cleared"
	EventDecision  = "decision"
	EventApproval  = "approval"
	EventRun       = "run"
	EventUsed      = "used"
	EventNotFound  = "not_found"
	EventBreak     = "break"
	EventDropped   = "dropped"
	EventEnd       = "end"
)

// Head begins each line.
type Head struct {
	V     int    `json:"v"`
	Event string `json:"event"`
	// Seq numbers the lines of a process, from 1, through all its files.
	Seq  int       `json:"seq"`
	Time time.Time `json:"time"`
	// Session is absent in lines that belong to no session. Agent is absent for the first agent.
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	// Fork is the skill that runs as an agent of its own.
	Fork string `json:"fork,omitempty"`
	// Turn and Call count from 1. Call is absent where there is none.
	Turn int `json:"turn,omitempty"`
	Call int `json:"call,omitempty"`
}

// Header returns h. It makes each line a [Line].
func (h *Head) Header() *Head { return h }

// Line is a pointer to one of the lines of this package.
type Line interface{ Header() *Head }

// Append appends a line with its end to b. It escapes no characters for HTML, so JSON that the line
// holds is written as it is.
func Append(b []byte, l Line) ([]byte, error) {
	if m, ok := l.(*Message); ok && len(m.Message) > 0 {
		return m.append(b)
	}
	buffer := bytes.NewBuffer(b)
	e := json.NewEncoder(buffer)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return b, err
	}
	return buffer.Bytes(), nil
}

// Trace is the first line of each file.
type Trace struct {
	Head
	Schema  string `json:"schema"`
	Version string `json:"version"` // of Satchel
	Process string `json:"process"` // distinguishes processes
	Part    int    `json:"part"`    // from 1
	Texts   string `json:"texts"`   // whole, digests or none
}

// Message introduces a message, before the first call of the file that has it.
type Message struct {
	Head
	Digest string `json:"digest"`
	// Message is a [MessageValue], or with digests a [MessageSize], without white space.
	Message json.RawMessage `json:"message"`
}

// append appends the line of m. The message may be long, so it is copied and not read again.
func (m *Message) append(b []byte) ([]byte, error) {
	start := len(b)
	b, err := Append(slices.Grow(b, len(m.Message)+512), &struct {
		*Head
		Digest string `json:"digest"`
	}{&m.Head, m.Digest})
	if err != nil {
		return b[:start], err
	}
	b = append(b[:len(b)-len("}\n")], `,"message":`...)
	b = append(b, m.Message...)
	return append(b, "}\n"...), nil
}

// MessageValue is a message as the model gets it.
type MessageValue struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
	Media      []Media    `json:"media,omitempty"`
}

// Media is a part of a message that is no text.
type Media struct {
	Kind   string `json:"kind"`   // image, audio, video or file
	Digest string `json:"digest"` // of its content, or of its address if the content is not in the request
}

// MessageSize is what a trace without texts says about a message.
type MessageSize struct {
	Role  string `json:"role"`
	Bytes int    `json:"bytes"` // of the text
	// Media are those of the message.
	Media []Media `json:"media,omitempty"`
}

// ToolCall is a call that the model made.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tools introduces a list of tools, before the first call of the file that has it.
type Tools struct {
	Head
	Digest string          `json:"digest"`
	Tools  json.RawMessage `json:"tools"` // a list of [Tool]
}

// Tool is the definition of a tool.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// Turn begins a user turn.
type Turn struct {
	Head
	Prompt string `json:"prompt"`
}

// Offered lists the skills of the overview.
type Offered struct {
	Head
	Skills []string `json:"skills"` // with a description
	Named  []string `json:"named"`  // by name only
	Cut    int      `json:"cut"`    // how many are in neither
}

// Suggested lists the skills that the runtime suggested.
type Suggested struct {
	Head
	Skills []string `json:"skills"`
}

// Call is a request to the model.
type Call struct {
	Head
	Model string `json:"model"`
	// The request has the first Keep messages of the agent's previous call, then those of Add.
	Keep  int      `json:"keep"`
	Add   []string `json:"add"`
	Tools string   `json:"tools"` // digest
	Parts Parts    `json:"parts"`
	Texts []Text   `json:"texts"`
}

// Parts are the tokens of a request, by what they are for.
type Parts struct {
	System   int `json:"system"`
	Overview int `json:"overview"`
	History  int `json:"history"`
	Skills   int `json:"skills"`
	Docs     int `json:"docs"`
	Tools    int `json:"tools"`
}

// Sum returns the tokens of the request.
func (p Parts) Sum() int { return p.System + p.Overview + p.History + p.Skills + p.Docs + p.Tools }

// Text is the body or a doc of a skill in a request.
type Text struct {
	Skill   string `json:"skill"`
	Doc     string `json:"doc"`
	Message int    `json:"message"` // index in the request
	// LoadedBy is the call that loaded it, or 0 if the trace does not have it.
	LoadedBy int    `json:"loaded_by"`
	Mode     string `json:"mode"`
	Tokens   int    `json:"tokens"`
	Leaves   string `json:"leaves"` // turn, next call, when it pays, unload or never
}

// Answer is what the model answered to a call.
type Answer struct {
	Head
	Text             string     `json:"text"`
	ToolCalls        []ToolCall `json:"tool_calls"`
	PromptTokens     int        `json:"prompt_tokens"`
	CachedTokens     int        `json:"cached_tokens"`
	CompletionTokens int        `json:"completion_tokens"`
	MS               int64      `json:"ms"`
	// Alternatives are the further answers, if the host requested several.
	Alternatives []Alternative `json:"alternatives,omitempty"`
}

// Alternative is a further answer to a call.
type Alternative struct {
	Text      string     `json:"text"`
	ToolCalls []ToolCall `json:"tool_calls"`
}

// Error says why a call has no answer.
type Error struct {
	Head
	Error string `json:"error"`
}

// Loaded reports a load. By is model, user or host; ID is that of the tool call.
type Loaded struct {
	Head
	Skill  string `json:"skill"`
	Digest string `json:"digest"`
	Tokens int    `json:"tokens"`
	By     string `json:"by"`
	ID     string `json:"id"`
}

// Unloaded reports that the authority of a load ended.
type Unloaded struct {
	Head
	Skill string `json:"skill"`
	Why   string `json:"why"` // unloaded, turn, once, evicted, replaced, changed or withdrawn
}

// Cleared reports that a text left the requests.
type Cleared struct {
	Head
	Skill string `json:"skill"`
	Doc   string `json:"doc"`
	Why   string `json:"why"` // rent, expectation, break, budget or unload
}

// Decision is a verdict on a tool call.
type Decision struct {
	Head
	ID       string `json:"id"`
	Name     string `json:"name"`
	Decision string `json:"decision"` // allowed, asked or denied
	Skill    string `json:"skill"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`
}

// Approval is the answer of an approver.
type Approval struct {
	Head
	ID       string `json:"id"`
	Name     string `json:"name"`
	Approved bool   `json:"approved"`
	Reason   string `json:"reason"`
}

// Run reports a command that has ended.
type Run struct {
	Head
	ID       string           `json:"id"`
	Skill    string           `json:"skill"`
	Command  string           `json:"command"`
	ExitCode int              `json:"exit_code"`
	TimedOut bool             `json:"timed_out"`
	MS       int64            `json:"ms"`
	Files    []File           `json:"files"`
	Limits   map[string]int64 `json:"limits"`
}

// File is an output of a command.
type File struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Used reports that a skill was of use. How is run, doc or named.
type Used struct {
	Head
	Skill string `json:"skill"`
	How   string `json:"how"`
	ID    string `json:"id"`
}

// NotFound reports a skill that does not exist. Near are similar names.
type NotFound struct {
	Head
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Near []string `json:"near"`
}

// Break reports a request that does not begin with the one before.
type Break struct {
	Head
	Message    int    `json:"message"` // the first that differs; -1 for the tools
	LostTokens int    `json:"lost_tokens"`
	Cause      string `json:"cause"`
}

// Dropped counts lines that could not be written.
type Dropped struct {
	Head
	Lines int `json:"lines"`
}

// End counts all lines of a trace that was closed, itself included.
type End struct {
	Head
	Lines int `json:"lines"`
}
