package tracelog

import (
	"cmp"
	"slices"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

// event adds a line that is no call to its call, or to the turn if it names none.
func (a *agent) event(turn *Turn, r record) {
	if o, ok := r.value.(*line.Offered); ok {
		a.offered = o
	}
	if r.head.Call == 0 {
		turn.add(r.value)
		return
	}
	c := a.calls[r.head.Call]
	if c == nil {
		a.pending[r.head.Call] = append(a.pending[r.head.Call], r)
		return
	}
	c.add(r.value)
}

// add adds a line about a call. The first answer counts.
func (c *Call) add(value any) {
	switch v := value.(type) {
	case *line.Answer:
		if c.Answer == nil {
			c.Answer = v
		}
	case *line.Error:
		if c.Error == nil {
			c.Error = v
		}
	case *line.Offered:
		c.Overview = v
		c.Events.add(v)
	default:
		c.Events.add(v)
	}
}

// add adds a line about a turn.
func (t *Turn) add(value any) {
	if answer, ok := value.(*line.Answer); ok {
		t.Answers = append(t.Answers, answer)
		return
	}
	t.Events.add(value)
}

func (e *Events) add(value any) {
	switch v := value.(type) {
	case *line.Offered:
		e.Offered = append(e.Offered, v)
	case *line.Suggested:
		e.Suggested = append(e.Suggested, v)
	case *line.Loaded:
		e.Loaded = append(e.Loaded, v)
	case *line.Unloaded:
		e.Unloaded = append(e.Unloaded, v)
	case *line.Cleared:
		e.Cleared = append(e.Cleared, v)
	case *line.Decision:
		e.Decisions = append(e.Decisions, v)
	case *line.Approval:
		e.Approvals = append(e.Approvals, v)
	case *line.Run:
		e.Runs = append(e.Runs, v)
	case *line.Used:
		e.Used = append(e.Used, v)
	case *line.NotFound:
		e.NotFound = append(e.NotFound, v)
	case *line.Break:
		e.Breaks = append(e.Breaks, v)
	}
}

// Lines returns all events in order.
func (e *Events) Lines() []line.Line {
	var all []line.Line
	all = appendLines(all, e.Offered)
	all = appendLines(all, e.Suggested)
	all = appendLines(all, e.Loaded)
	all = appendLines(all, e.Unloaded)
	all = appendLines(all, e.Cleared)
	all = appendLines(all, e.Decisions)
	all = appendLines(all, e.Approvals)
	all = appendLines(all, e.Runs)
	all = appendLines(all, e.Used)
	all = appendLines(all, e.NotFound)
	all = appendLines(all, e.Breaks)
	return inOrder(all)
}

// Lines returns the events and the answer or error of a call, in order.
func (c *Call) Lines() []line.Line {
	all := c.Events.Lines()
	if c.Answer != nil {
		all = append(all, c.Answer)
	}
	if c.Error != nil {
		all = append(all, c.Error)
	}
	return inOrder(all)
}

func appendLines[L line.Line](all []line.Line, lines []L) []line.Line {
	for _, l := range lines {
		all = append(all, l)
	}
	return all
}

func inOrder(all []line.Line) []line.Line {
	slices.SortStableFunc(all, func(a, b line.Line) int { return cmp.Compare(a.Header().Seq, b.Header().Seq) })
	return all
}
