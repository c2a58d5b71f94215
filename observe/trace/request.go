package trace

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// view is the last request of an agent.
type view struct {
	messages []core.Message
	entries  []*entry
	prompt   *prompt.Prompt
	spare    *prompt.Prompt // memory for the next prompt
	tools    toolList
	// written are the digests of the messages of the last call line in the current file.
	written []string
}

// entry is a message of a request.
type entry struct {
	digest string
	measured
	isMeasured bool
}

// toolList is the list of tools of a request.
type toolList struct {
	text, digest string
	rendered     []prompt.Tool
	measured
	isMeasured bool
}

// request writes a call, with what it needs.
func (r *recorder) request(i *item) {
	q := i.request
	ref := callRef{call: i.call, turn: max(q.View.Turn, 1), fork: q.View.Fork}
	head := r.head(q.Key, i.at, ref)
	a := r.agent(q.Key)
	a.noteHeld(ref.call)
	if ref.fork == "" && a.turn != ref.turn {
		h := as(head, line.EventTurn)
		h.Call = 0
		r.add(&line.Turn{Head: h, Prompt: r.text(q.View.Prompt)})
		a.turn = ref.turn
	}
	v, known := r.views.Get(q.Key)
	if !known {
		v = &view{}
	}
	c := &callWriter{recorder: r, view: v, request: q, agent: a, head: head}
	lines, err := c.write()
	if err != nil {
		r.queue.drop(max(1, lines), err)
		r.dropHeld(a)
		return
	}
	r.views.Put(q.Key, v, viewSize(q))
	r.open.Put(requestKey{q.Key, q.ID}, ref, 1)
	a.last = ref
	r.releaseHeld(a, ref)
	if c.isBroken {
		r.add(&line.Break{Head: as(head, line.EventBreak), Message: c.brokenAt, LostTokens: c.lost, Cause: a.causeOf(c.brokenAt)})
	}
	a.broken = ""
}

// as returns a head for a line with an event.
func as(h line.Head, event string) line.Head {
	h.Event = event
	return h
}

// viewSize estimates the memory that the last request of an agent takes.
func viewSize(q *core.ModelRequest) int {
	n := messageWeight
	for i := range q.Messages {
		n += messageSize(&q.Messages[i])
	}
	return n
}

// callWriter writes one call.
type callWriter struct {
	*recorder
	view    *view
	request *core.ModelRequest
	agent   *agent
	head    line.Head

	entries []*entry
	tools   toolList
	parts   line.Parts
	texts   []line.Text

	isBroken       bool
	brokenAt, lost int
}

// write writes the messages and tools that the file does not have, and the call. lines is how many
// lines it did not write if it fails.
func (c *callWriter) write() (lines int, err error) {
	if err := c.readTools(); err != nil {
		return 1, err
	}
	if err := c.readMessages(); err != nil {
		return 1, err
	}
	if c.out.isFull() {
		if err := c.makeRoom(); err != nil {
			return 1, err
		}
	}
	// If the messages fill the file, the next one begins with all of them. There they stay with the
	// call, however small the files shall be.
	if isDone, err := c.writeTexts(c.callsInPart > 0); err != nil {
		return 1, err
	} else if !isDone {
		if err := c.makeRoom(); err != nil {
			return 1, err
		}
		if _, err := c.writeTexts(false); err != nil {
			return 1, err
		}
	}
	now, err := c.measure()
	if err != nil {
		return 1, err
	}
	if err := c.put(c.newLine()); err != nil {
		return 1, err
	}
	c.callsInPart++
	c.remember(now)
	return 0, nil
}

// newLine returns the line of the call.
func (c *callWriter) newLine() *line.Call {
	l := &line.Call{Head: as(c.head, line.EventCall), Model: cmp.Or(c.request.Model, c.model), Add: []string{}, Tools: c.tools.digest, Parts: c.parts, Texts: c.texts}
	if c.config.texts == None {
		return l
	}
	for l.Keep < len(c.view.written) && l.Keep < len(c.entries) && c.view.written[l.Keep] == c.entries[l.Keep].digest {
		l.Keep++
	}
	for _, e := range c.entries[l.Keep:] {
		l.Add = append(l.Add, e.digest)
	}
	return l
}

// remember keeps the request for comparison with the next.
func (c *callWriter) remember(now *prompt.Prompt) {
	v := c.view
	v.messages, v.entries, v.tools = c.request.Messages, c.entries, c.tools
	v.prompt, v.spare = now, v.prompt
	v.written = v.written[:0]
	for _, e := range c.entries {
		v.written = append(v.written, e.digest)
	}
}

// readTools finds out whether the tools are those of the call before.
func (c *callWriter) readTools() error {
	written, rendered := c.toolValues(c.request.Tools)
	value, digest, err := encode(written)
	if err != nil {
		return err
	}
	if c.tools = c.view.tools; c.redact != nil || c.tools.text != string(value) || c.tools.digest != digest {
		c.tools = toolList{text: string(value), digest: digest}
	}
	c.tools.rendered = rendered
	return nil
}

// readMessages finds the messages that the call before had, and takes the digests of the others.
func (c *callWriter) readMessages() error {
	before := c.view
	for i := range c.request.Messages {
		m := &c.request.Messages[i]
		if i < len(before.messages) && isSame(m, &before.messages[i]) {
			c.entries = append(c.entries, before.entries[i])
			continue
		}
		_, digest, err := c.message(m)
		if err != nil {
			return err
		}
		c.entries = append(c.entries, &entry{digest: digest})
	}
	return nil
}

// writeTexts writes the messages and tools that the file does not have. With mayStop it returns false
// when the file is full.
func (c *callWriter) writeTexts(mayStop bool) (isDone bool, err error) {
	for i, e := range c.entries {
		if c.config.texts == None || c.known[e.digest] {
			continue
		}
		if mayStop && c.out.isFull() {
			return false, nil
		}
		value, _, err := c.message(&c.request.Messages[i])
		if err != nil {
			return false, err
		}
		if err := c.put(&line.Message{Head: line.Head{Event: line.EventMessage, Time: c.head.Time}, Digest: e.digest, Message: value}); err != nil {
			return false, err
		}
		c.know(e.digest)
	}
	if !c.known[c.tools.digest] {
		if mayStop && c.out.isFull() {
			return false, nil
		}
		if err := c.put(&line.Tools{Head: line.Head{Event: line.EventTools, Time: c.head.Time}, Digest: c.tools.digest, Tools: json.RawMessage(c.tools.text)}); err != nil {
			return false, err
		}
		c.know(c.tools.digest)
	}
	return !mayStop || !c.out.isFull(), nil
}

// know remembers what the file has. When it has very much, texts are written again.
func (r *recorder) know(digest string) {
	if len(r.known) >= maxKnown {
		r.known = map[string]bool{}
	}
	r.known[digest] = true
}

// measure counts the tokens of the request, divides them into parts, and compares it with the one
// before.
func (c *callWriter) measure() (*prompt.Prompt, error) {
	if !c.tools.isMeasured {
		m, err := c.tokens.tools(c.tools.rendered)
		if err != nil {
			return nil, err
		}
		c.tools.measured, c.tools.isMeasured = m, true
	}
	now := c.view.spare
	if now == nil {
		now = &prompt.Prompt{}
	}
	c.parts.Tools = c.tools.size
	now.Blocks, now.Size = append(now.Blocks[:0], c.tools.blocks...), c.tools.size
	for i, e := range c.entries {
		if !e.isMeasured {
			m, err := c.tokens.message(&c.request.Messages[i])
			if err != nil {
				return nil, err
			}
			e.measured, e.isMeasured = m, true
		}
		for _, b := range e.blocks {
			b.Message = i
			now.Blocks = append(now.Blocks, b)
		}
		now.Size += e.size
	}
	c.divide()
	if c.view.prompt != nil {
		block, lost, broken := cachemodel.Breaks(c.view.prompt, now)
		c.isBroken, c.brokenAt, c.lost = broken, block.Message, lost
	}
	return now, nil
}

// causeOf returns why the prefix broke at a message, or at the tools if message is -1.
func (a *agent) causeOf(message int) string {
	switch {
	case a.broken != "":
		return a.broken
	case message < 0:
		return "tools"
	}
	return "host"
}

// digestOf returns a digest with the name of its hash.
func digestOf(hex string) string {
	if hex == "" || strings.Contains(hex, ":") {
		return hex
	}
	return "sha256:" + hex
}
