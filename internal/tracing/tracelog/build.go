package tracelog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

// builder builds a trace from records in order.
type builder struct {
	texts    *texts
	trace    *Trace
	sessions map[string]*session // the latest of each id
	byID     map[string][]*session
	all      []*session
	labels   map[string]int // how many agents have or had each label
	agents   []*agent
	number   int // counts the processes
	part     int // counts the parts of all processes
	gaps     int // counts the places where lines are lost
	seq      int // of the last line of the part
	lost     int // counts the messages that calls lack
}

// session is a session under construction.
type session struct {
	*Session
	agents map[string]*agent
}

// agent is an agent under construction.
type agent struct {
	*Agent
	session *session
	turns   map[int]*Turn
	calls   map[int]*Call
	// pending holds lines about calls that have not come yet.
	pending map[int][]record
	offered *line.Offered
	// turnLine is the number of the last turn line, and process the process that has written it.
	turnLine, process int
	// part is the part of the last call, and gaps the number of gaps before it.
	part, gaps int
}

func newBuilder(t *texts) *builder {
	return &builder{texts: t, trace: &Trace{Texts: TextsWhole}, sessions: make(map[string]*session), byID: make(map[string][]*session), labels: make(map[string]int)}
}

// process adds the lines of a process. Its first call of a session says which session of that name it goes on with.
func (b *builder) process(p *process) {
	begun := make(map[string]bool)
	for c := range p.calls() {
		if !begun[c.Session] {
			begun[c.Session] = true
			b.resume(c)
		}
	}
	b.number++
	for i := range p.parts {
		b.part, b.seq = b.part+1, 0
		b.trace.Texts = fewer(b.trace.Texts, p.parts[i].texts)
		for _, r := range p.parts[i].records {
			b.add(r)
		}
	}
}

// resume makes the session that a call goes on with the latest of its name. Sessions of one name can be those of several
// tenants. The call goes on with one that has no call of that number: with the latest, unless an earlier one has more
// first messages in common with the call. If there is none, the call begins another session.
func (b *builder) resume(c *line.Call) {
	var found *session
	most := 0
	for _, s := range b.byID[c.Session] {
		a := s.agents[c.Agent]
		if a != nil && a.calls[c.Head.Call] != nil {
			continue
		}
		n := 0
		if a != nil && len(a.Calls) > 0 {
			n = sharedMessages(a.Calls[len(a.Calls)-1], c)
		}
		if isLatest := s == b.sessions[c.Session]; n > most || n == most && isLatest {
			found, most = s, n
		}
	}
	if found == nil {
		delete(b.sessions, c.Session)
	} else {
		b.sessions[c.Session] = found
	}
}

// sharedMessages returns how many first messages of a call are those that the first call of a process has.
func sharedMessages(before *Call, c *line.Call) (n int) {
	all := before.Messages()
	for n < len(all) && n < len(c.Add) && all[n].Digest == c.Add[n] {
		n++
	}
	return n
}

// fewer returns the setting that keeps less.
func fewer(a, b string) string {
	order := []string{TextsNone, TextsDigests, TextsWhole}
	for _, one := range order {
		if a == one || b == one {
			return one
		}
	}
	return a
}

func (b *builder) add(r record) {
	if b.seq > 0 && r.head.Seq != b.seq+1 {
		b.gaps++
	}
	if b.seq = r.head.Seq; r.value == nil {
		return
	}
	if d, ok := r.value.(*line.Dropped); ok {
		b.trace.Dropped += max(d.Lines, 0)
		return
	}
	a := b.agent(r.head)
	if a.beginsAgain(r, b.number) {
		delete(b.sessions, r.head.Session)
		a = b.agent(r.head)
	}
	turn := a.root().turn(r.head)
	switch v := r.value.(type) {
	case *line.Turn:
		if a.Parent == nil {
			turn.Prompt = v.Prompt
			a.turnLine, a.process = v.Head.Turn, b.number
		}
	case *line.Call:
		b.call(a, turn, v)
	default:
		a.event(turn, r)
	}
}

// beginsAgain reports whether a session has ended before a line. The number of a call repeats then, or the
// process that has written a turn begins that or an earlier one with another prompt.
func (a *agent) beginsAgain(r record, process int) bool {
	switch v := r.value.(type) {
	case *line.Call:
		return a.calls[r.head.Call] != nil
	case *line.Turn:
		before := a.turns[v.Head.Turn]
		return a.process == process && v.Head.Turn <= a.turnLine && before != nil && before.Prompt != v.Prompt
	}
	return false
}

// agent returns the agent of a line.
func (b *builder) agent(h *line.Head) *agent {
	s := b.sessions[h.Session]
	if s == nil {
		s = &session{Session: &Session{ID: h.Session, Time: h.Time}, agents: make(map[string]*agent)}
		b.sessions[h.Session] = s
		b.all = append(b.all, s)
		b.byID[h.Session] = append(b.byID[h.Session], s)
		b.trace.Sessions = append(b.trace.Sessions, s.Session)
	}
	if a := s.agents[h.Agent]; a != nil {
		return a
	}
	a := b.newAgent(s, h.Agent)
	if h.Fork != "" {
		a.Fork = h.Fork
		a.Parent = b.parent(s, h.Agent)
	}
	return a
}

// forkMark stands in the name of a fork behind that of its parent.
const forkMark = "/fork:"

// parent returns the agent that a fork ran for. The first agent may have a name in that of the fork.
func (b *builder) parent(s *session, fork string) *Agent {
	name, _, _ := strings.Cut(fork, forkMark)
	for _, name := range []string{name, ""} {
		if a := s.agents[name]; a != nil && a.Parent == nil && a.Name != fork {
			return a.Agent
		}
	}
	if name == fork {
		name = ""
	}
	return b.newAgent(s, name).Agent
}

func (b *builder) newAgent(s *session, name string) *agent {
	label := s.ID
	if name != "" {
		label += "/" + name
	}
	unique := label
	for b.labels[unique] > 0 {
		b.labels[label]++
		unique = fmt.Sprintf("%s#%d", label, b.labels[label])
	}
	b.labels[unique] = 1
	a := &agent{
		Agent:   &Agent{Session: s.Session, Name: name, Label: unique},
		session: s, turns: make(map[int]*Turn), calls: make(map[int]*Call), pending: make(map[int][]record),
	}
	s.agents[name] = a
	s.Agents = append(s.Agents, a.Agent)
	b.agents = append(b.agents, a)
	return a
}

// root returns the agent whose turns the lines of a belong to.
func (a *agent) root() *agent {
	if a.Parent == nil {
		return a
	}
	return a.session.agents[a.Parent.Name]
}

// turn returns the turn of a line. A line without a number belongs to the last turn.
func (a *agent) turn(h *line.Head) *Turn {
	if h.Turn == 0 && len(a.Turns) > 0 {
		return a.Turns[len(a.Turns)-1]
	}
	t := a.turns[h.Turn]
	if t == nil {
		t = &Turn{Agent: a.Agent, Number: h.Turn, Time: h.Time}
		a.turns[h.Turn] = t
		a.Turns = append(a.Turns, t)
	}
	return t
}

// call adds a call and the lines about it that came before.
func (b *builder) call(a *agent, turn *Turn, l *line.Call) {
	c := &Call{
		Agent: a.Agent, Turn: turn, Number: l.Head.Call, Time: l.Time, Model: l.Model,
		Tools: b.texts.tools[l.Tools], Parts: l.Parts, Texts: l.Texts, Overview: a.offered,
		Added: make([]*Message, 0, len(l.Add)), process: b.number,
	}
	if l.Tools == "" {
		c.Tools = noTools
	}
	for _, digest := range l.Add {
		c.Added = append(c.Added, b.texts.find(digest))
	}
	a.follow(c, l.Keep, a.part == b.part, a.gaps != b.gaps)
	if b.lost += c.lost; b.lost > maxLost {
		b.trace.Cut++
		return
	}
	a.part, a.gaps = b.part, b.gaps
	a.calls[c.Number] = c
	a.Calls = append(a.Calls, c)
	turn.Calls = append(turn.Calls, c)
	for _, r := range a.pending[c.Number] {
		a.event(turn, r)
	}
	delete(a.pending, c.Number)
}

// follow finds the messages that a call has from the one before. samePart reports that both stand in
// one part, so that keep counts the messages of the other. gap reports that lines between them are
// lost, among them a call if the numbers of the calls have a gap too.
func (a *agent) follow(c *Call, keep int, samePart, gap bool) {
	var before *Call
	if len(a.Calls) > 0 {
		before = a.Calls[len(a.Calls)-1]
	}
	c.previous = before
	switch {
	case before != nil && samePart:
		c.Keep = min(keep, before.Len())
		c.lost = keep - c.Keep
		c.Uncertain = keep > 0 && (c.lost > 0 || gap && c.Number != before.Number+1 || before.Uncertain)
	case keep > 0: // the beginning of the part is lost
		c.lost, c.Uncertain = keep, true
	case before != nil:
		all := before.Messages()
		for c.Keep < len(all) && c.Keep < len(c.Added) && all[c.Keep] == c.Added[c.Keep] {
			c.Keep++
		}
		c.Added = slices.Clone(c.Added[c.Keep:])
	}
}

// finish moves lines about calls that never came to their turns, and sorts calls, turns and sessions.
func (b *builder) finish() *Trace {
	for _, s := range b.all {
		s.sort()
	}
	for _, a := range b.agents {
		for _, number := range slices.Sorted(maps.Keys(a.pending)) {
			for _, r := range a.pending[number] {
				a.root().turn(r.head).add(r.value)
			}
		}
	}
	slices.SortStableFunc(b.trace.Sessions, func(x, y *Session) int { return x.Time.Compare(y.Time) })
	return b.trace
}
