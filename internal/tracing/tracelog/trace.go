// Package tracelog reads traces: files of lines as package line describes them. Its types are the
// sessions, turns and calls that the lines report.
package tracelog

import (
	"iter"
	"strconv"
	"time"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

// What a trace keeps of texts.
const (
	TextsWhole   = "whole"
	TextsDigests = "digests"
	TextsNone    = "none"
)

// Trace is what all files of a trace report. Callers must not change it.
type Trace struct {
	// Sessions are in the order of their first lines.
	Sessions []*Session
	// Texts is TextsWhole unless a part of the trace has fewer: TextsDigests or TextsNone.
	Texts string
	// Cut counts the lines that could not be read. Dropped counts those that the writer dropped.
	Cut, Dropped int
}

// Session is a session of one process, or of several that give no number of a call again.
type Session struct {
	ID string
	// Time is that of the first line.
	Time time.Time
	// Agents are in the order of their first lines, forks among them.
	Agents []*Agent
}

// Agent is an agent of a session.
type Agent struct {
	Session *Session
	// Name is "" for the first agent.
	Name string
	// Fork is the skill that ran as this agent, and Parent the agent that it ran for. The parent of
	// a fork's fork is the agent that is no fork. Both are zero for other agents.
	Fork   string
	Parent *Agent
	// Label is SESSION or SESSION/AGENT. No two agents of a trace have the same label: that of a
	// later session of the same name ends with "#2".
	Label string
	// Turns are the user turns, none for forks.
	Turns []*Turn
	// Calls are the calls of this agent alone, in order.
	Calls []*Call
}

// Turn is a user turn.
type Turn struct {
	Agent  *Agent
	Number int
	Prompt string
	// Time is that of the first line of the turn.
	Time time.Time
	// Calls are the calls of the turn in order, those of forks among them.
	Calls []*Call
	// Answers are those to calls that the trace does not have.
	Answers []*line.Answer
	// Events are the lines of the turn that name no call, or a call that the trace does not have.
	Events
}

// Call is a request to the model and what followed it.
type Call struct {
	Agent *Agent
	Turn  *Turn
	// Number counts the calls of the agent.
	Number int
	Time   time.Time
	Model  string
	// Keep is how many first messages are those of the agent's previous call, also where the
	// previous call stands in another file. Added are the messages behind them.
	Keep  int
	Added []*Message
	// Tools are the tools of the request. Tools is nil if the trace lacks their line, and empty if the
	// request had none.
	Tools *Tools
	Parts line.Parts
	Texts []line.Text
	// Overview is the list of skills that the model saw, or nil if the trace does not have it.
	Overview *line.Offered
	// Answer or Error ends the call. Both are nil if the trace has neither.
	Answer *line.Answer
	Error  *line.Error
	// Events are those about the call, and about loads and suggestions before it.
	Events
	// Uncertain is set if lines before the call are lost, so that the first Keep messages may
	// differ from those that were sent.
	Uncertain bool

	previous *Call
	process  int // number of the process that has made it
	lost     int // how many messages between Keep and Added the trace does not have
}

// Events are lines about what happened in a turn or a call, each list in order.
type Events struct {
	Offered   []*line.Offered
	Suggested []*line.Suggested
	Loaded    []*line.Loaded
	Unloaded  []*line.Unloaded
	Cleared   []*line.Cleared
	Decisions []*line.Decision
	Approvals []*line.Approval
	Runs      []*line.Run
	Used      []*line.Used
	NotFound  []*line.NotFound
	Breaks    []*line.Break
}

// Message is a message of requests. A trace holds it once.
type Message struct {
	Digest string
	line.MessageValue
	// Bytes is the size of the text, also where it is withheld.
	Bytes int
	// Withheld is set if the trace has no texts. Missing is set if the line of the message is lost.
	Withheld, Missing bool
}

// Tools is a list of tools. A trace holds it once.
type Tools struct {
	Digest string
	Tools  []line.Tool
}

// Name returns SESSION/CALL or SESSION/AGENT/CALL. No two calls of a trace have the same name.
func (c *Call) Name() string { return c.Agent.Label + "/" + strconv.Itoa(c.Number) }

// Previous returns the call of the same agent before this one, or nil.
func (c *Call) Previous() *Call { return c.previous }

// Len returns the number of messages of the request.
func (c *Call) Len() int { return c.Keep + c.lost + len(c.Added) }

// Decision returns the verdict on a tool call of the answer, or nil if the trace has none.
func (c *Call) Decision(id string) *line.Decision {
	for _, d := range c.Decisions {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// Messages returns all messages of the request, none of them nil. Those from index Keep on are new
// against the previous call. The list is built with each call of Messages.
func (c *Call) Messages() []*Message {
	all := make([]*Message, c.Len())
	need := len(all)
	for at := c; at != nil && need > 0; at = at.previous {
		if from := at.Keep + at.lost; need > from {
			copy(all[from:need], at.Added)
			need = from
		}
		for ; need > at.Keep; need-- {
			all[need-1] = missing
		}
	}
	return all
}

// noTools is the list of requests without tools.
var noTools = &Tools{}

// missing stands for a message that a trace does not have.
var missing = &Message{Missing: true}

// Calls returns all calls of a trace, session by session and turn by turn.
func (t *Trace) Calls() []*Call {
	var all []*Call
	for turn := range t.Turns() {
		all = append(all, turn.Calls...)
	}
	return all
}

// Turns yields all turns of a trace, session by session.
func (t *Trace) Turns() iter.Seq[*Turn] {
	return func(yield func(*Turn) bool) {
		for _, s := range t.Sessions {
			for _, a := range s.Agents {
				for _, turn := range a.Turns {
					if !yield(turn) {
						return
					}
				}
			}
		}
	}
}
