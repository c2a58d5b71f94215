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

// PrefixGuard compares successive requests of one agent in one session, and finds changes of a
// prefix that a provider may have cached. It keeps the texts of the last request. Most of them
// share memory with the host's texts, so they cost little. The zero value is ready to use and
// safe for concurrent use.
type PrefixGuard struct {
	mu    sync.Mutex
	last  []link
	tools []core.Definition
	rec   *state.Record
	// turn is the index in last at which the turn of rec began: the first of the user messages at
	// the end of that request.
	turn int
}

// link is one message of the last request.
type link struct {
	text   string
	added  int // bytes of text that are Satchel's, at its end
	calls  []core.ToolCall
	role   core.Role
	isOurs bool // the whole message is
}

// Check compares a view and its tools with those of the last call, and remembers them for the
// next one. It returns the break of the prefix and true if there is one. rec is the record from
// which the view was rendered; without it, a change by Satchel has the cause unknown. Check
// ignores ids of calls.
func (g *PrefixGuard) Check(view []core.Message, rec *state.Record, tools ...core.Definition) (processors.PrefixBreak, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := 0
	for at < len(view) && at < len(g.last) && g.last[at].reads(&view[at]) {
		// Who wrote a message may change: the result of a call that was answered here is
		// the framework's first and Satchel's in later turns.
		g.last[at].added, g.last[at].isOurs = len(view[at].Added), view[at].Origin == core.Inserted
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

// DropTurn notes that the turn of the last request failed or was cancelled. The host drops the
// messages of that turn, so the next request is compared with the messages before it.
func (g *PrefixGuard) DropTurn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rec != nil && g.turn < len(g.last) {
		clear(g.last[g.turn:])
		g.last = g.last[:g.turn]
	}
}

// estimated returns the estimated tokens of a text with size bytes.
func estimated(size int) int { return (size + 3) / 4 }

// appendLinks adds the messages of view to links. It copies their calls, because the memory of
// the view belongs to the caller.
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

// reads reports whether the model reads the same text in both messages.
func (l *link) reads(m *core.Message) bool {
	return l.role == m.Role && l.text == m.Text && slices.EqualFunc(l.calls, m.Calls, sameCall)
}

// hasSameHostPart reports whether the host's part of the message is the same as that of m.
func (l *link) hasSameHostPart(m *core.Message) bool {
	return l.role == m.Role && l.text[:len(l.text)-l.added] == m.Text[:len(m.Text)-len(m.Added)] &&
		slices.EqualFunc(l.calls, m.Calls, sameCall)
}

func sameCall(a, b core.ToolCall) bool { return a.Name == b.Name && a.Arguments == b.Arguments }

// causeOf returns the cause of a break. was and now are the rest of both requests, whose first
// messages differ; now may be empty.
func causeOf(was []link, now []core.Message, before, rec *state.Record) processors.Cause {
	switch {
	case was[0].isOurs || len(now) > 0 && now[0].Origin == core.Inserted:
		// A message of Satchel's is no cause where the host's next one is another,
		// too: it came or went with that.
		if !sameHost(was, now) {
			return causeHost
		}
		if isFallback(was[0].isOurs, was[0].text) || len(now) > 0 && isFallback(now[0].Origin == core.Inserted, now[0].Text) {
			return causeFallback
		}
	case len(now) == 0 || !was[0].hasSameHostPart(&now[0]):
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

// sameHost reports whether the first message of the host is the same in both lists.
func sameHost(was []link, now []core.Message) bool {
	old := slices.IndexFunc(was, func(l link) bool { return !l.isOurs })
	if old < 0 {
		return true // the host has only added
	}
	i := slices.IndexFunc(now, func(m core.Message) bool { return m.Origin != core.Inserted })
	return i >= 0 && was[old].hasSameHostPart(&now[i])
}

func isFallback(ours bool, text string) bool {
	return ours && strings.HasPrefix(text, FallbackHeading)
}

func equalDelivery(a, b state.Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Shown() == b.Shown() && a.Body == b.Body &&
		a.Old == b.Old && a.Spent == b.Spent && slices.Equal(a.Docs, b.Docs)
}

// sharedTools counts the equal tools at the beginning of both lists.
func sharedTools(was, now []core.Definition) int {
	n := 0
	for n < len(was) && n < len(now) && was[n].Name == now[n].Name && was[n].Description == now[n].Description &&
		sameSchema(was[n].Schema, now[n].Schema) {
		n++
	}
	return n
}

// sameSchema reports whether two schemas are the same value or have the same JSON.
func sameSchema(a, b any) bool {
	return isSame(a, b) || bytes.Equal(schemaText(a), schemaText(b))
}

// isSame reports whether two schemas share memory, which is quicker to test than their JSON.
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

// repeatedWithTools is repeated for requests whose tools differ. The messages follow the tools,
// so all of them are sent again.
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
