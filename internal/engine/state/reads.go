package state

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// ReadCalls tells which calls read files of skills.
type ReadCalls interface {
	// ShowsFiles reports whether calls of a tool may do so.
	ShowsFiles(tool string) bool
	// ShowsFile reports whether this call of such a tool does.
	ShowsFile(call *core.ToolCall) bool
}

// reads counts the text of skill files that results of calls hold.
type reads struct {
	// results are those of the last request, in their order, and inTurn is where those begin
	// that came since the last message of a user.
	results []readResult
	inTurn  int
	// since are the answers that came after that request.
	since []readResult
}

// readResult is the result of one call. tokens is 0 where the call has not read a file of a
// skill.
type readResult struct {
	call         string
	size, tokens int
}

// Scan looks at the messages of a request once, see [ScanMessages]. It also counts the results
// of calls that read files of skills, unless calls is nil.
func (a *Agent) Scan(messages []core.Message, front int, calls ReadCalls) Scan {
	if calls == nil {
		return ScanMessages(messages, front)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads.inTurn, a.reads.since = 0, nil
	counter := readCounter{reads: &a.reads, calls: calls, asked: -1}
	scan := scanMessages(messages, front, &counter)
	a.reads.results = a.reads.results[:counter.count]
	return scan
}

// readCounter counts the results of reads while messages are scanned.
type readCounter struct {
	*reads
	calls ReadCalls
	count int
	asked int // the index of the last message with calls
}

// beginTurn notes that the results so far stand before a message of a user.
func (c *readCounter) beginTurn() { c.inTurn = c.count }

// add counts the message with an index if it is the result of a read.
func (c *readCounter) add(messages []core.Message, i int) {
	m := &messages[i]
	if len(m.Calls) > 0 {
		c.asked = i
	}
	if m.Role != core.ToolResult || m.Tool != "" && !c.calls.ShowsFiles(m.Tool) {
		return
	}
	size := len(m.Text) - len(m.Added)
	if c.count == len(c.results) {
		c.results = append(c.results, readResult{size: -1})
	}
	if known := &c.results[c.count]; known.call != m.CallID || known.size != size {
		*known = readResult{call: m.CallID, size: size}
		if call := callOf(messages, c.asked, m); call != nil && c.calls.ShowsFiles(call.Name) && c.calls.ShowsFile(call) {
			known.tokens = prompttext.Estimate(m.Text[:size])
		}
	}
	c.count++
}

// callOf returns the call that a result answers, or nil. asked is the index of the last
// message before it that has calls.
func callOf(messages []core.Message, asked int, result *core.Message) *core.ToolCall {
	for i := asked; i >= 0; i-- {
		for j := range messages[i].Calls {
			c := &messages[i].Calls[j]
			if c.ID == result.CallID && (result.Tool == "" || c.Name == result.Tool) {
				return c
			}
		}
		if messages[i].Role == core.User {
			break // results stand in the turn of their calls
		}
	}
	return nil
}

// tokens returns the sum of what is in view, and of the part since the last message of a
// user. Answers to the call are left out, unless it has no id.
func (r *reads) tokens(call string) (all, inTurn int) {
	for i := range r.results {
		all += r.results[i].tokens
		if i >= r.inTurn {
			inTurn += r.results[i].tokens
		}
	}
	for i := range r.since {
		if call == "" || r.since[i].call != call {
			all, inTurn = all+r.since[i].tokens, inTurn+r.since[i].tokens
		}
	}
	return all, inTurn
}

// ReadTokens returns the estimated tokens of skill files that the last request held or that
// were read since. inTurn are those since the last message of a user.
func (a *Agent) ReadTokens() (all, inTurn int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reads.tokens("")
}

// AddRead adds the answer to a call, and returns what ReadTokens was without it. It adds
// nothing and returns false if inTurn would then exceed room.
func (a *Agent) AddRead(call string, tokens, room int) (all, inTurn int, fits bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all, inTurn = a.reads.tokens(call)
	if inTurn+tokens > room {
		return all, inTurn, false
	}
	for i := range a.reads.since {
		if r := &a.reads.since[i]; call != "" && r.call == call {
			r.tokens = tokens
			return all, inTurn, true
		}
	}
	a.reads.since = append(a.reads.since, readResult{call: call, tokens: tokens})
	return all, inTurn, true
}
