package page

import (
	"time"

	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// content is the data of a page, in the form that assets/data.js reads. Messages and lists of tools
// stand once for a side. Calls refer to them by index.
type content struct {
	Sides    []*side   `json:"sides"`
	Sections []Section `json:"sections"`
}

// side is a trace.
type side struct {
	Name     string            `json:"name"` // A or B
	Title    string            `json:"title"`
	Texts    string            `json:"texts"`
	Summary  *tracelog.Summary `json:"summary"`
	Messages []message         `json:"messages"`
	Tools    []toolList        `json:"tools"`
	// Sessions are the labels of the agents that have turns.
	Sessions []string `json:"sessions"`
	Turns    []turn   `json:"turns"`
	Calls    []call   `json:"calls"`
}

// toolList is a list of tools, in the form of the trace.
type toolList []line.Tool

// message is a message in the form of the trace.
type message struct {
	Role       string          `json:"role"`
	Content    *string         `json:"content,omitempty"`
	ToolCalls  []line.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Media      []line.Media    `json:"media,omitempty"`
	Bytes      *int            `json:"bytes,omitempty"` // of a message without its text
}

type turn struct {
	Session int       `json:"session"`
	Turn    int       `json:"turn"`
	Prompt  string    `json:"prompt"`
	Time    time.Time `json:"time"`
	// Events are those of a turn without a call, as a trace of tool calls has it.
	Events []eventFields `json:"events,omitempty"`
}

// call is a model call. Before is the index of the agent's previous call, or -1. Tools is -1 if the
// trace does not have them.
type call struct {
	Name   string        `json:"name"`
	Agent  string        `json:"agent,omitempty"`
	Fork   string        `json:"fork,omitempty"`
	Turn   int           `json:"turn"`
	Call   int           `json:"call"`
	Before int           `json:"before"`
	Keep   int           `json:"keep"`
	Add    []int         `json:"add"`
	Tools  int           `json:"tools"`
	Model  string        `json:"model"`
	Time   time.Time     `json:"time"`
	Parts  line.Parts    `json:"parts"`
	Texts  []line.Text   `json:"texts"`
	Answer *answer       `json:"answer,omitempty"`
	Error  string        `json:"error,omitempty"`
	Events []eventFields `json:"events"`
	// Uncertain is set if the trace lacks a call before this one.
	Uncertain bool `json:"uncertain,omitempty"`
}

// answer is an answer in the form of the trace.
type answer struct {
	Text             string          `json:"text"`
	ToolCalls        []line.ToolCall `json:"tool_calls"`
	PromptTokens     int             `json:"prompt_tokens"`
	CachedTokens     int             `json:"cached_tokens"`
	CompletionTokens int             `json:"completion_tokens"`
	MS               int64           `json:"ms"`

	Alternatives []line.Alternative `json:"alternatives,omitempty"`
}

// builder builds the data of a side.
type builder struct {
	*side
	messages map[*tracelog.Message]int
	tools    map[*tracelog.Tools]int
	calls    map[*tracelog.Call]int
	missing  int // index of the message that stands for lost ones, or -1
}

// newSide returns the data of a trace.
func newSide(name, title string, t *tracelog.Trace) *side {
	b := &builder{
		side: &side{
			Name: name, Title: title, Texts: t.Texts, Summary: tracelog.Summarize(t), Messages: []message{}, Tools: []toolList{}, Sessions: []string{}, Turns: []turn{}, Calls: []call{},
		},
		messages: map[*tracelog.Message]int{}, tools: map[*tracelog.Tools]int{}, calls: map[*tracelog.Call]int{}, missing: -1,
	}
	for _, s := range t.Sessions {
		for _, a := range s.Agents {
			if len(a.Turns) > 0 {
				b.addAgent(a)
			}
		}
	}
	// A call may stand before the one that it continues: that of a fork in an earlier turn.
	for c, i := range b.calls {
		b.Calls[i].Before = b.indexOf(c.Previous())
	}
	return b.side
}

func (b *builder) addAgent(a *tracelog.Agent) {
	b.Sessions = append(b.Sessions, a.Label)
	for _, of := range a.Turns {
		shown := turn{Session: len(b.Sessions) - 1, Turn: of.Number, Prompt: of.Prompt, Time: of.Time}
		if len(of.Calls) == 0 {
			shown.Events = eventsOf(&of.Events)
		}
		b.Turns = append(b.Turns, shown)
		for i, c := range of.Calls {
			events := eventsOf(&c.Events)
			if i == 0 {
				events = append(eventsOf(&of.Events), events...)
			}
			b.addCall(c, events)
		}
	}
}

func (b *builder) addCall(c *tracelog.Call, events []eventFields) {
	b.calls[c] = len(b.Calls)
	shown := call{
		Name: c.Name(), Agent: c.Agent.Name, Fork: c.Agent.Fork, Turn: len(b.Turns) - 1, Call: c.Number, Keep: c.Keep, Add: []int{}, Tools: b.indexOfTools(c.Tools),
		Model: c.Model, Time: c.Time, Parts: c.Parts, Texts: c.Texts, Events: events, Uncertain: c.Uncertain,
	}
	for range c.Len() - c.Keep - len(c.Added) {
		shown.Add = append(shown.Add, b.indexOfMissing())
	}
	for _, m := range c.Added {
		shown.Add = append(shown.Add, b.indexOfMessage(m))
	}
	if shown.Texts == nil {
		shown.Texts = []line.Text{}
	}
	if a := c.Answer; a != nil {
		shown.Answer = &answer{a.Text, a.ToolCalls, a.PromptTokens, a.CachedTokens, a.CompletionTokens, a.MS, a.Alternatives}
		if a.ToolCalls == nil {
			shown.Answer.ToolCalls = []line.ToolCall{}
		}
	}
	if c.Error != nil {
		shown.Error = c.Error.Error
	}
	b.Calls = append(b.Calls, shown)
}

func (b *builder) indexOf(c *tracelog.Call) int {
	if i, known := b.calls[c]; known {
		return i
	}
	return -1
}

func (b *builder) indexOfMessage(m *tracelog.Message) int {
	if m.Missing {
		return b.indexOfMissing()
	}
	i, known := b.messages[m]
	if !known {
		i = len(b.Messages)
		b.messages[m] = i
		shown := message{Role: m.Role, ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID, Media: m.Media}
		if m.Withheld {
			shown.Bytes = &m.Bytes
		} else {
			shown.Content = &m.Content
		}
		b.Messages = append(b.Messages, shown)
	}
	return i
}

// indexOfMissing returns the index of a message that says that it is lost.
func (b *builder) indexOfMissing() int {
	if b.missing < 0 {
		b.missing = len(b.Messages)
		b.Messages = append(b.Messages, message{Role: "lost"})
	}
	return b.missing
}

func (b *builder) indexOfTools(t *tracelog.Tools) int {
	if t == nil {
		return -1
	}
	i, known := b.tools[t]
	if !known {
		i = len(b.Tools)
		b.tools[t] = i
		list := toolList(t.Tools)
		if list == nil {
			list = toolList{}
		}
		b.Tools = append(b.Tools, list)
	}
	return i
}
