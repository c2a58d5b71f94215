package processors

import (
	"fmt"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Cause says why a request does not begin with the one before it.
type Cause string

// The causes. The first two are those that the default view allows itself.
const (
	CauseTurn     Cause = "turn"     // a turn began and the content of the last was cleared
	CauseUnload   Cause = "unload"   // content was unloaded, evicted, replaced or deselected, or has had its one showing
	CauseSystem   Cause = "system"   // the system message holds content that has changed
	CauseFallback Cause = "fallback" // the message of content without a place came, went or changed
	CauseOverview Cause = "overview" // the overview was written anew
	CauseHost     Cause = "host"     // the host changed, removed or inserted a message of its own
	CauseUnknown  Cause = "unknown"  // text of Satchel's changed and nothing says why: report it
)

// PrefixBreak is a request that does not begin with the one before it, so that a
// provider's prompt cache serves only the part before Message.
type PrefixBreak struct {
	Cause Cause
	// Message is the index, in the view, of the first message that differs, and
	// Role its role.
	Message int
	Role    core.Role
	// Tokens estimates what is sent anew: all from that message on that the
	// request before had sent already, at four bytes a token.
	Tokens int
}

// String says it in one line.
func (b PrefixBreak) String() string {
	return fmt.Sprintf("prefix breaks at message %d (%s), cause %s: about %d tokens are sent anew", b.Message, b.Role, b.Cause, b.Tokens)
}

// PrefixGuard watches the requests of one agent in one session. It keeps the
// texts of the last one, most of which are the host's own: comparing a text with
// itself costs nothing, whatever its length. The zero value is ready; it is safe
// for concurrent use.
type PrefixGuard struct {
	mu   sync.Mutex
	last []link
	rec  *session.Record
}

// link is one message in the chain of a request.
type link struct {
	text  string
	added int // bytes of text that are Satchel's, at its end
	calls []core.ToolCall
	role  core.Role
	ours  bool // the whole message is
}

// Check compares a view, made of rec, with the view before it and keeps it in its
// place. It reports the break, if there is one. Ids of calls do not count.
func (g *PrefixGuard) Check(view []core.Message, rec *session.Record) (PrefixBreak, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := 0
	for at < len(view) && at < len(g.last) && g.last[at].is(&view[at]) {
		at++
	}
	var b PrefixBreak
	broken := at < len(g.last)
	if broken {
		b = PrefixBreak{Message: at, Role: g.last[at].role, Tokens: (bytesOf(g.last[at:]) + 3) / 4}
		var now *core.Message
		if at < len(view) {
			now = &view[at]
		}
		b.Cause = causeOf(&g.last[at], now, g.rec, rec)
	}
	clear(g.last[at:])
	g.last = g.last[:at]
	for i := range view[at:] {
		m := &view[at+i]
		// The calls are copied: the view's memory is the caller's.
		g.last = append(g.last, link{m.Text, len(m.Added), slices.Clone(m.Calls), m.Role, m.Origin == core.Inserted})
	}
	g.rec = rec
	return b, broken
}

func (l *link) is(m *core.Message) bool {
	return l.text == m.Text && l.role == m.Role && l.added == len(m.Added) && slices.EqualFunc(l.calls, m.Calls, sameCall)
}

// own reports whether the host's part of a message is that of m.
func (l *link) own(m *core.Message) bool {
	return l.role == m.Role && l.text[:len(l.text)-l.added] == m.Text[:len(m.Text)-len(m.Added)] &&
		slices.EqualFunc(l.calls, m.Calls, sameCall)
}

func sameCall(a, b core.ToolCall) bool { return a.Name == b.Name && a.Arguments == b.Arguments }

func bytesOf(links []link) (n int) {
	for i := range links {
		n += len(links[i].text)
		for _, c := range links[i].calls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	return n
}

// causeOf explains why a message is now another one, or none.
func causeOf(was *link, now *core.Message, before, rec *session.Record) Cause {
	switch {
	case was.ours || now != nil && now.Origin == core.Inserted:
		return CauseFallback
	case now == nil || !was.own(now):
		return CauseHost
	case before.Overview != rec.Overview:
		return CauseOverview
	case slices.EqualFunc(before.Deliveries, rec.Deliveries, equalDelivery):
		return CauseUnknown
	case was.role == core.System:
		return CauseSystem
	case before.Turn != rec.Turn:
		return CauseTurn
	}
	return CauseUnload
}

func equalDelivery(a, b session.Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Old == b.Old && a.Spent == b.Spent && slices.Equal(a.Docs, b.Docs)
}

// TestingT is the part of testing.TB that FailTest needs.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
}

// FailTest returns a function for a guard that fails a test at each break whose
// cause is not one of allowed. With none given, CauseTurn and CauseUnload are
// allowed, as the default view promises.
func FailTest(t TestingT, allowed ...Cause) func(PrefixBreak) {
	if allowed == nil {
		allowed = []Cause{CauseTurn, CauseUnload}
	}
	return func(b PrefixBreak) {
		t.Helper()
		if !slices.Contains(allowed, b.Cause) {
			t.Errorf("%s", b)
		}
	}
}
