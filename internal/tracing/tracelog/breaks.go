package tracelog

import (
	"slices"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

// Comparison compares the request of a call with that of the call before. It returns the first message that
// differs, or -1 for the tools, and how many tokens are paid again. isBroken is false if the request of now begins
// with that of before.
type Comparison func(before, now *Call) (message, lost int, isBroken bool, err error)

// CompareProcesses sets the breaks of each call whose previous call stands in another process. No process has seen
// both requests. Breaks stay as they are where the trace lacks a text.
func (t *Trace) CompareProcesses(compare Comparison) error {
	for _, c := range t.Calls() {
		before := c.previous
		if before == nil || before.process == c.process || !before.isWhole() || !c.isWhole() {
			continue
		}
		written := c.Breaks
		c.Breaks = nil
		if c.Keep == before.Len() && c.Tools == before.Tools {
			continue
		}
		message, lost, isBroken, err := compare(before, c)
		if err != nil {
			return err
		}
		if isBroken {
			c.Breaks = []*line.Break{c.brokenAt(message, lost, written)}
		}
	}
	return nil
}

// brokenAt returns the line of a break. Its cause is that of the lines that the process has written, if there are some.
func (c *Call) brokenAt(message, lost int, written []*line.Break) *line.Break {
	head := line.Head{
		V: line.Version, Event: line.EventBreak, Time: c.Time,
		Session: c.Agent.Session.ID, Agent: c.Agent.Name, Fork: c.Agent.Fork, Turn: c.Turn.Number, Call: c.Number,
	}
	l := &line.Break{Head: head, Message: message, LostTokens: lost, Cause: c.causeOf(message)}
	if len(written) > 0 {
		l.Seq, l.Cause = written[0].Seq, written[0].Cause
	}
	return l
}

// causeOf returns why the prefix broke at a message, or at the tools if message is -1.
func (c *Call) causeOf(message int) string {
	switch {
	case message < 0:
		return "tools"
	case len(c.Cleared) > 0:
		return "turn"
	case message == 0 && !sameOverview(c.previous.Overview, c.Overview):
		return "overview"
	}
	return "host"
}

func sameOverview(a, b *line.Offered) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Skills, b.Skills) && slices.Equal(a.Named, b.Named) && a.Cut == b.Cut
}

// isWhole reports whether the trace has all texts of the request.
func (c *Call) isWhole() bool {
	isLost := func(m *Message) bool { return m.Missing || m.Withheld }
	return !c.Uncertain && c.Tools != nil && !slices.ContainsFunc(c.Messages(), isLost)
}
