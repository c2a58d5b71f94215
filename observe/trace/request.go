package trace

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// view is the last request of an agent.
type view struct {
	messages []core.Message
	files    [][]core.File // of messages
	entries  []*entry
	prompt   *prompt.Prompt
	spare    *prompt.Prompt // memory for the next prompt
	tools    toolList
	// definitions are those of tools, as the adapter has reported them.
	definitions []core.Definition
	// written are the digests of the messages of the last call line in the current file.
	written []string
}

// entry is a message of a request.
type entry struct {
	digest string
	bytes  int             // of its value in a line
	value  json.RawMessage // nil when its call is written
	media  []line.Media
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
	a := r.agent(q.Key)
	a.isSubagent = a.isSubagent || q.IsSubagent
	head := r.head(q.Key, i.at, ref)
	if ref.fork == "" && a.turn != ref.turn { // the trace has no event of its beginning
		r.beginTurn(a, i.at, ref.turn, q.View.Prompt)
	}
	v, known := r.views.Get(q.Key)
	if !known || ref.call <= a.last.call { // numbers begin again with a new session of the same name
		v = &view{}
	}
	c := &callWriter{recorder: r, view: v, request: q, files: filesOf(q), agent: a, head: head}
	if err := c.write(); err != nil {
		r.queue.drop(1, err)
		r.dropHeld(a)
		return
	}
	r.views.Put(q.Key, v, viewSize(q, c.entries))
	r.open.Put(requestKey{q.Key, q.ID}, ref, 1)
	a.last = ref
	r.writeHeld(a, ref)
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

// viewSize estimates the memory that the last request of an agent takes with its tokens.
func viewSize(q *core.ModelRequest, entries []*entry) int {
	n := messageWeight
	for i := range q.Messages {
		n += messageSize(&q.Messages[i])
	}
	for i := range q.Files {
		n += q.Files[i].Size
	}
	for _, e := range entries {
		n += e.weight()
	}
	return n
}

// callWriter writes one call.
type callWriter struct {
	*recorder
	view    *view
	request *core.ModelRequest
	files   [][]core.File // of its messages
	agent   *agent
	head    line.Head

	entries []*entry
	tools   toolList
	parts   line.Parts
	texts   []line.Text
	sizes   map[placedText]int
	isMoved bool // a file was begun for the call

	isBroken       bool
	brokenAt, lost int
}

// write writes the messages and tools that the file does not have, and the call.
func (c *callWriter) write() error {
	if err := c.readTools(); err != nil {
		return err
	}
	if err := c.readMessages(); err != nil {
		return err
	}
	now, err := c.measure()
	if err != nil {
		return err
	}
	c.agent.sizes = c.sizes
	c.writeLate(c.agent)
	if err := c.writeTexts(); err != nil {
		return err
	}
	if err := c.put(c.newLine()); err != nil {
		return err
	}
	c.remember(now)
	return nil
}

// newLine returns the line of the call.
func (c *callWriter) newLine() *line.Call {
	l := &line.Call{Head: as(c.head, line.EventCall), Model: cmp.Or(c.request.Model, c.model), Add: []string{}, Tools: c.tools.digest, Parts: c.parts, Texts: c.texts}
	if c.config.texts == None {
		return l
	}
	l.Keep = c.kept()
	for _, e := range c.entries[l.Keep:] {
		l.Add = append(l.Add, e.digest)
	}
	return l
}

// kept returns how many first messages are those of the agent's last call in the file.
func (c *callWriter) kept() (n int) {
	written := c.view.written
	for n < len(written) && n < len(c.entries) && written[n] == c.entries[n].digest {
		n++
	}
	return n
}

// remember keeps the request for comparison with the next.
func (c *callWriter) remember(now *prompt.Prompt) {
	v := c.view
	v.files = c.files
	v.messages, v.entries, v.tools, v.definitions = c.request.Messages, c.entries, c.tools, c.request.Tools
	v.prompt, v.spare = now, v.prompt
	kept := c.kept()
	v.written = v.written[:kept]
	for _, e := range c.entries[kept:] {
		e.value = nil
		v.written = append(v.written, e.digest)
	}
}

// readTools finds out whether the tools are those of the call before.
func (c *callWriter) readTools() error {
	if c.view.prompt != nil && slices.EqualFunc(c.request.Tools, c.view.definitions, isSameTool) {
		c.tools = c.view.tools
		return nil
	}
	written, rendered := c.toolValues(c.request.Tools)
	value, digest, err := encode(written)
	if err != nil {
		return err
	}
	c.tools = toolList{text: string(value), digest: digest, rendered: rendered}
	return nil
}

// isSameTool reports whether two definitions are known to be equal without a look into their schemas.
func isSameTool(a, b core.Definition) bool {
	if a.Name != b.Name || a.Description != b.Description {
		return false
	}
	x, y := reflect.ValueOf(a.Schema), reflect.ValueOf(b.Schema)
	if !x.IsValid() || !y.IsValid() || x.Type() != y.Type() {
		return x.IsValid() == y.IsValid() && !x.IsValid()
	}
	switch x.Kind() {
	case reflect.Pointer, reflect.Map:
		return x.Pointer() == y.Pointer()
	case reflect.Slice:
		return x.Pointer() == y.Pointer() && x.Len() == y.Len()
	case reflect.String:
		return x.String() == y.String()
	}
	return false
}

// readMessages finds the messages that the call before had, and takes the digests of the others.
func (c *callWriter) readMessages() error {
	before := c.view
	for i := range c.request.Messages {
		m := &c.request.Messages[i]
		if i < len(before.messages) && isSame(m, &before.messages[i]) && slices.EqualFunc(c.files[i], before.files[i], isSameFile) {
			c.entries = append(c.entries, before.entries[i])
			continue
		}
		media := mediaOf(c.files[i])
		value, digest, err := c.message(m, media)
		if err != nil {
			return err
		}
		c.entries = append(c.entries, &entry{digest: digest, bytes: len(value), value: value, media: media})
	}
	return nil
}

// writeTexts writes the messages and tools that the file does not have. If they fill the file, the next
// one begins with all of them, unless they would fill that too.
func (c *callWriter) writeTexts() error {
	if !c.isMoved {
		if err := c.makeRoom(); err != nil {
			return err
		}
	}
	for i := c.kept(); i <= len(c.entries); i++ {
		digest, l, err := c.text(i)
		if err != nil {
			return err
		}
		if c.known[digest] || l == nil {
			continue
		}
		if err := c.put(l); err != nil {
			return err
		}
		c.know(digest)
		if !c.isMoved && c.out.isFull() && c.out.fits(c.wholeSize()) {
			if err := c.makeRoom(); err != nil {
				return err
			}
			c.isMoved = true
			return c.writeTexts()
		}
	}
	return nil
}

// wholeSize estimates the bytes of all messages and tools of the request in a file.
func (c *callWriter) wholeSize() int64 {
	n := len(c.tools.text) + lineWeight
	for _, e := range c.entries {
		n += e.bytes + lineWeight
	}
	return int64(n)
}

// text returns the digest and the line of a message, or of the tools behind the last message. The line
// is nil if the file has it, or shall not have it.
func (c *callWriter) text(i int) (digest string, l line.Line, err error) {
	if i == len(c.entries) {
		h := line.Head{Event: line.EventTools, Time: c.head.Time}
		return c.tools.digest, &line.Tools{Head: h, Digest: c.tools.digest, Tools: json.RawMessage(c.tools.text)}, nil
	}
	if digest = c.entries[i].digest; c.config.texts == None || c.known[digest] {
		return digest, nil, nil
	}
	value := c.entries[i].value
	if value == nil {
		value, _, err = c.message(&c.request.Messages[i], c.entries[i].media)
	}
	h := line.Head{Event: line.EventMessage, Time: c.head.Time}
	return digest, &line.Message{Head: h, Digest: digest, Message: value}, err
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
	divided := c.divided()
	for i, e := range c.entries {
		if isDivided := divided[i] && c.request.Messages[i].Text != ""; !e.isMeasured || isDivided && e.lengths == nil {
			m, err := c.tokens.message(&c.request.Messages[i], e.media, isDivided)
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

// divided returns the messages whose text has parts that are counted by themselves.
func (c *callWriter) divided() map[int]bool {
	divided := make(map[int]bool)
	for i := range c.request.View.Texts {
		divided[c.request.View.Texts[i].Message] = true
	}
	return divided
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
