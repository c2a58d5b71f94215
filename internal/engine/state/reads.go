package state

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// ReadCalls recognizes calls that read files of skills.
type ReadCalls interface {
	// ShowsFiles reports whether calls of tool may read files of skills.
	ShowsFiles(tool string) bool
	// ShowsFile reports whether this call of such a tool does.
	ShowsFile(call *core.ToolCall) bool
}

// reads counts the text of skill files in the results of calls.
type reads struct {
	// results are the results in the last request, in order. inTurn is the index of the first
	// one after the last message of a user.
	results []readResult
	inTurn  int
	// since are the answers after that request.
	since []readResult
}

// readResult is the result of one call. tokens is 0 if the call has not read a file of a skill.
type readResult struct {
	call         string
	size, tokens int
}

// Scan is [ScanMessages] for a request of the agent. Unless calls is nil, it also counts the
// text of skill files in results. It estimates only results that are new since the last request.
func (a *Agent) Scan(messages []core.Message, front int, calls ReadCalls) Scan {
	if calls == nil {
		return ScanMessages(messages, front)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads.inTurn, a.reads.since = 0, nil
	counter := readCounter{reads: &a.reads, calls: calls, calling: -1}
	scan := scanMessages(messages, front, &counter)
	a.reads.results = a.reads.results[:counter.count]
	return scan
}

// readCounter counts the text of skill files while scanMessages scans the messages.
type readCounter struct {
	*reads
	calls   ReadCalls
	count   int
	calling int // the index of the last message with calls
}

// beginTurn notes that a message of a user follows the results so far.
func (c *readCounter) beginTurn() { c.inTurn = c.count }

// add counts messages[i] if it is the result of a call that reads a file of a skill.
func (c *readCounter) add(messages []core.Message, i int) {
	m := &messages[i]
	if len(m.Calls) > 0 {
		c.calling = i
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
		if call := callOf(messages, c.calling, m); call != nil && c.calls.ShowsFiles(call.Name) && c.calls.ShowsFile(call) {
			known.tokens = prompttext.Estimate(m.Text[:size])
		}
	}
	c.count++
}

// callOf returns the call that a result answers, or nil. calling is the index of the last
// message with calls before the result.
func callOf(messages []core.Message, calling int, result *core.Message) *core.ToolCall {
	for i := calling; i >= 0; i-- {
		for j := range messages[i].Calls {
			c := &messages[i].Calls[j]
			if c.ID == result.CallID && (result.Tool == "" || c.Name == result.Tool) {
				return c
			}
		}
		if messages[i].Role == core.User {
			break // a result is in the same turn as its call
		}
	}
	return nil
}

// tokens returns the sum of all results, and of those after the last message of a user. It
// leaves out later answers of the call with that id, unless the id is "".
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

// ReadTokens returns the estimated tokens of skill files in the last request and in answers
// after it. inTurn is the part after the last message of a user.
func (a *Agent) ReadTokens() (all, inTurn int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reads.tokens("")
}

// AddRead adds the answer of a call, and returns the values of ReadTokens without it. If
// inTurn would exceed room, it adds nothing and returns false.
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
