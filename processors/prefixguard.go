package processors

import (
	"fmt"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// PrefixBreak describes a request that does not begin with the request before it. A
// provider's prompt cache can then serve only the part before Message.
type PrefixBreak struct {
	Cause Cause
	// Message is the index in the view of the first message that differs, and Role
	// is its role. Message is -1 if the tools differ, because they come before all
	// messages.
	Message int
	Role    core.Role
	// Tokens estimates, at four bytes a token, what has to be sent again although
	// the earlier request contained it: everything behind the break that stood
	// behind it before, too, wherever that was. A cache would have kept it; now it
	// is paid for at the price of writing. Messages and tools that are unchanged
	// count whole, and a changed message counts as far as its beginning and its end
	// are the same. Text that is gone and text that is new do not count.
	Tokens int
}

// Block names the first thing that differs: "tools", or for example "message 3
// (tool)".
func (b PrefixBreak) Block() string {
	if b.Message < 0 {
		return "tools"
	}
	return fmt.Sprintf("message %d (%s)", b.Message, b.Role)
}

// String describes the break in one line.
func (b PrefixBreak) String() string {
	return fmt.Sprintf("prefix breaks at %s, cause %s: about %d tokens are sent anew", b.Block(), b.Cause, b.Tokens)
}

// PrefixGuard compares the successive requests of one agent in one session. It
// keeps the texts of the last request; most of them are shared with the host, and
// comparing a text with itself costs nothing. The zero value is ready to use and
// safe for concurrent use.
// Decision 34 says why.
type PrefixGuard struct {
	mu    sync.Mutex
	last  []link
	tools []core.Definition
	rec   *state.Record
	// turn is where the turn of rec began: the index in last of the first of the messages
	// of the user at its end.
	turn int
}

// link is one message of the request that the guard remembers.
type link struct {
	text  string
	added int // bytes of text that are Satchel's, at its end
	calls []core.ToolCall
	role  core.Role
	ours  bool // the whole message is
}

// Check compares a view, which was rendered from rec, and the tools that are sent
// with it with those of the call before, and then remembers them instead. It
// returns the break if there is one. Ids of calls are not compared. Without a
// record, a change that Satchel made has the cause [CauseUnknown].
func (g *PrefixGuard) Check(view []core.Message, rec *state.Record, tools ...core.Definition) (PrefixBreak, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := 0
	for at < len(view) && at < len(g.last) && g.last[at].reads(&view[at]) {
		// Who wrote a message may change: the result of a call that was answered here is
		// the framework's first and Satchel's in later turns.
		g.last[at].added, g.last[at].ours = len(view[at].Added), view[at].Origin == core.Inserted
		at++
	}
	var b PrefixBreak
	broken := false
	switch tool := sharedTools(g.tools, tools); {
	case len(g.last) == 0: // the first request
	case tool < max(len(tools), len(g.tools)):
		broken = true
		b = PrefixBreak{Cause: CauseTools, Message: -1, Tokens: estimated(anewWithTools(g.tools[tool:], tools[tool:], g.last, view))}
	case at < len(g.last):
		broken = true
		b = PrefixBreak{
			Cause: causeOf(g.last[at:], view[at:], g.rec, rec), Message: at, Role: g.last[at].role,
			Tokens: estimated(anew(g.last[at:], view[at:])),
		}
	}
	if rec != nil && (g.rec == nil || g.rec.Turn != rec.Turn) {
		g.turn = len(view)
		for g.turn > 0 && view[g.turn-1].Role == core.User {
			g.turn--
		}
	}
	clear(g.last[at:])
	g.last = appendLinks(g.last[:at], view[at:])
	clear(g.tools)
	g.tools = append(g.tools[:0], tools...)
	g.rec = rec
	return b, broken
}

// TurnLeft says that the turn of the last request was left without an answer: it failed or
// was cancelled. Its messages are gone with it, so the next request is compared with what
// stood before them.
func (g *PrefixGuard) TurnLeft() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rec != nil && g.turn < len(g.last) {
		clear(g.last[g.turn:])
		g.last = g.last[:g.turn]
	}
}

func estimated(size int) int { return (size + 3) / 4 }

// appendLinks copies the calls, because the memory of the view belongs to the
// caller.
func appendLinks(links []link, view []core.Message) []link {
	count := 0
	for i := range view {
		count += len(view[i].Calls)
	}
	calls := make([]core.ToolCall, 0, count)
	for i := range view {
		m := &view[i]
		first := len(calls)
		calls = append(calls, m.Calls...)
		links = append(links, link{m.Text, len(m.Added), calls[first:], m.Role, m.Origin == core.Inserted})
	}
	return links
}

// reads reports whether a model reads the same text in both messages.
func (l *link) reads(m *core.Message) bool {
	return l.role == m.Role && l.text == m.Text && slices.EqualFunc(l.calls, m.Calls, sameCall)
}

// own reports whether the host's part of the message is the same as that of m.
func (l *link) own(m *core.Message) bool {
	return l.role == m.Role && l.text[:len(l.text)-l.added] == m.Text[:len(m.Text)-len(m.Added)] &&
		slices.EqualFunc(l.calls, m.Calls, sameCall)
}

func sameCall(a, b core.ToolCall) bool { return a.Name == b.Name && a.Arguments == b.Arguments }

// TestingT is the part of testing.TB that [FailTest] needs.
type TestingT interface {
	// Helper is that of testing.TB.
	Helper()
	// Errorf is that of testing.TB.
	Errorf(format string, args ...any)
}

// FailTest returns a function for a guard that fails the test at each break whose
// cause is not one of allowed. Without any, CauseTurn and CauseUnload are allowed:
// the default view promises that nothing else breaks the prefix.
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
