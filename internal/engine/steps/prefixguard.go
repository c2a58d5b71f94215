package steps

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/processors"
)

// PrefixGuard compares the successive requests of one agent in one session. It keeps the
// texts of the last request; most of them are shared with the host, and comparing a text
// with itself costs nothing. The zero value is ready to use and safe for concurrent use.
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
		b = processors.PrefixBreak{Cause: causeTools, Message: -1, Tokens: estimated(repeatedWithTools(g.tools[tool:], tools[tool:], g.last, view))}
	case at < len(g.last):
		broken = true
		b = processors.PrefixBreak{
			Cause: causeOf(g.last[at:], view[at:], g.rec, rec), Message: at, Role: g.last[at].role,
			Tokens: estimated(repeated(g.last[at:], view[at:])),
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

// causeOf explains why a request continues with now instead of was. The two differ
// in their first message; now may be empty.
func causeOf(was []link, now []core.Message, before, rec *state.Record) processors.Cause {
	switch {
	case was[0].ours || len(now) > 0 && now[0].Origin == core.Inserted:
		// A message of Satchel's is no cause where the host's next one is another,
		// too: it came or went with that.
		if !sameHost(was, now) {
			return causeHost
		}
		if isFallback(was[0].ours, was[0].text) || len(now) > 0 && isFallback(now[0].Origin == core.Inserted, now[0].Text) {
			return causeFallback
		}
	case len(now) == 0 || !was[0].own(&now[0]):
		return causeHost
	}
	switch {
	case before == nil || rec == nil:
		return causeUnknown
	case before.Overview != rec.Overview:
		return causeOverview
	case slices.EqualFunc(before.Deliveries, rec.Deliveries, equalDelivery):
		return causeUnknown
	case was[0].role == core.System:
		return causeSystem
	case before.Turn != rec.Turn:
		return causeTurn
	}
	return causeUnload
}

// sameHost reports whether both lists begin with the same message of the host.
func sameHost(was []link, now []core.Message) bool {
	old := slices.IndexFunc(was, func(l link) bool { return !l.ours })
	if old < 0 {
		return true // the host has only added
	}
	i := slices.IndexFunc(now, func(m core.Message) bool { return m.Origin != core.Inserted })
	return i >= 0 && was[old].own(&now[i])
}

func isFallback(ours bool, text string) bool {
	return ours && strings.HasPrefix(text, FallbackHeading)
}

func equalDelivery(a, b state.Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Old == b.Old && a.Spent == b.Spent && slices.Equal(a.Docs, b.Docs)
}

// sharedTools counts the tools at the start of both requests that are the same.
func sharedTools(was, now []core.Definition) int {
	n := 0
	for n < len(was) && n < len(now) && was[n].Name == now[n].Name && was[n].Description == now[n].Description &&
		sameSchema(was[n].Schema, now[n].Schema) {
		n++
	}
	return n
}

// sameSchema compares two schemas by identity first, and else by their JSON.
func sameSchema(a, b any) bool {
	return isSame(a, b) || bytes.Equal(schemaText(a), schemaText(b))
}

func isSame(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if v.Type() != w.Type() {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map:
		return v.UnsafePointer() == w.UnsafePointer()
	case reflect.Slice:
		return v.Len() == w.Len() && v.UnsafePointer() == w.UnsafePointer()
	}
	return false
}

// schemaText returns a schema as JSON, or the error of encoding it as text.
func schemaText(schema any) []byte {
	text, err := json.Marshal(schema)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// repeatedWithTools is repeated for requests whose tools already differ. The messages come
// after the tools, so all of them are sent again.
func repeatedWithTools(was, now []core.Definition, links []link, view []core.Message) int {
	before, after := make([]link, 0, len(was)+len(links)), make([]core.Message, 0, len(now)+len(view))
	for i := range was {
		before = append(before, link{text: definitionText(&was[i]), role: toolRole})
	}
	for i := range now {
		after = append(after, core.Message{Text: definitionText(&now[i]), Role: toolRole})
	}
	return repeated(append(before, links...), append(after, view...))
}

// toolRole stands for the tools; no message has this role.
const toolRole core.Role = 255

func definitionText(d *core.Definition) string {
	return d.Name + "\n" + d.Description + "\n" + string(schemaText(d.Schema))
}
