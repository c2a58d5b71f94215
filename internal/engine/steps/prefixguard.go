package steps

import (
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/processors"
)

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
func (g *PrefixGuard) Check(view []core.Message, rec *state.Record, tools ...core.Definition) (processors.PrefixBreak, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := 0
	for at < len(view) && at < len(g.last) && g.last[at].reads(&view[at]) {
		// Who wrote a message may change: the result of a call that was answered here is
		// the framework's first and Satchel's in later turns.
		g.last[at].added, g.last[at].ours = len(view[at].Added), view[at].Origin == core.Inserted
		at++
	}
	var b processors.PrefixBreak
	broken := false
	switch tool := sharedTools(g.tools, tools); {
	case len(g.last) == 0: // the first request
	case tool < max(len(tools), len(g.tools)):
		broken = true
		b = processors.PrefixBreak{Cause: processors.CauseTools, Message: -1, Tokens: estimated(anewWithTools(g.tools[tool:], tools[tool:], g.last, view))}
	case at < len(g.last):
		broken = true
		b = processors.PrefixBreak{
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
