package conversation_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// prepare makes a request, as often as hosts do, and checks its view.
func (c *conversation) prepare(a *agent) {
	request := a.request()
	req := core.Request{Key: a.key, Summary: a.summary && c.chance(50)}
	ctx := a.turn
	if a.summary {
		ctx = satchel.WithSummary(ctx)
	}
	for i, m := range request {
		m.Message.Origin = i
		req.Messages = append(req.Messages, m.Message)
	}
	before := cloned(req.Messages)
	c.begins(a, request)
	view, err := c.runtime.Prepare(ctx, req)
	c.must(err)
	again, err := c.runtime.Prepare(ctx, req)
	c.must(err)
	if !reflect.DeepEqual(view, again) {
		c.fail("%s: the same request has two views:\n%s\n%s", a.key.Agent, chattest.Shown(view.Messages), chattest.Shown(again.Messages))
	}
	if !reflect.DeepEqual(req.Messages, before) {
		c.fail("%s: the request was changed", a.key.Agent)
	}
	c.note("%s: prepared %d messages", a.key.Agent, len(request))
	c.checkHost(a, req.Messages, view.Messages)
	c.settle(a, request, view.Messages)
	c.checkContent(a, request, view.Messages)
	c.checkPrefix(a, request, view.Messages)
	c.checkOverview(a, request, view.Messages)
	c.checkTrace(a, view)
	c.checkLoaded(a)
	a.alive = true
	a.last, a.view, a.flagged, a.began, a.rebuilt = request, view.Messages, a.summary, false, false
	a.oracle.broke, a.oracle.evicted, a.oracle.gone = false, false, map[int]bool{}
}

func present(request []stored, id int) bool {
	return slices.ContainsFunc(request, func(m stored) bool { return m.id == id })
}

// checkHost: every message of the host is there, in order, with its own text
// first and nothing else changed; the rest are system messages of ours.
func (c *conversation) checkHost(a *agent, request, view []core.Message) {
	i := 0
	for _, m := range view {
		if m.Origin == core.Inserted {
			if m.Role != core.System || m.Text != m.Added || m.Text == "" {
				c.fail("%s: inserted %v message %q", a.key.Agent, m.Role, m.Text)
			}
			continue
		}
		if i == len(request) {
			c.fail("%s: the view has more messages of the host than the request", a.key.Agent)
		}
		want := request[i]
		want.Text += m.Added
		want.Added = m.Added
		if !reflect.DeepEqual(m, want) {
			c.fail("%s: message %d of the host is\n%+v\nwant\n%+v", a.key.Agent, i, m, want)
		}
		i++
	}
	if i != len(request) {
		c.fail("%s: the view has %d of %d messages", a.key.Agent, i, len(request))
	}
}

// checkContent: each loaded text is exactly once, at its place; nothing else is
// there, but what a newer text has superseded and no break has removed yet.
func (c *conversation) checkContent(a *agent, request []stored, view []core.Message) {
	want, may := c.wanted(a, request)
	got := map[string]int{}
	for _, m := range view {
		for _, mark := range chattest.Marks.FindAllString(m.Added, -1) {
			got[c.placeOf(request, m)+" "+mark]++
		}
	}
	for at, n := range want {
		if got[at] < n || got[at] > n+may[at] {
			c.fail("%s: %s is shown %d times, want %d\n%s", a.key.Agent, at, got[at], n, chattest.Shown(view))
		}
	}
	for at, n := range got {
		if n > want[at]+may[at] {
			c.fail("%s: %s is shown but not loaded\n%s", a.key.Agent, at, chattest.Shown(view))
		}
	}
}

func (c *conversation) placeOf(request []stored, m core.Message) string {
	switch {
	case m.Origin != core.Inserted && m.Role != core.System:
		return fmt.Sprintf("#%d", request[m.Origin].id)
	case strings.HasPrefix(m.Text, "Loaded skill context:"):
		return "fallback"
	}
	return "system"
}

// wanted says how often each mark must be, and beyond that may be, at a place.
func (c *conversation) wanted(a *agent, request []stored) (want, may map[string]int) {
	want, may = map[string]int{}, map[string]int{}
	o := a.oracle
	o.hidden = map[string]bool{}
	place := func(p piece) string {
		switch {
		case c.placement == processors.InSystem:
			return "system"
		case present(request, p.place):
			return fmt.Sprintf("#%d", p.place)
		case a.summary && c.summary == processors.SummarySkip:
			o.hidden[p.id()] = true
			return ""
		}
		return "fallback"
	}
	for _, h := range o.loaded {
		for _, p := range h.pieces() {
			if at := place(p); at != "" && !o.answered(p) {
				count(want, at, p)
			}
		}
	}
	for _, p := range o.shownEnded() {
		if present(request, p.place) {
			count(want, fmt.Sprintf("#%d", p.place), p)
		} else {
			o.hidden[p.id()] = true
		}
	}
	for _, p := range o.old {
		if at := place(p); at == "fallback" || c.mode == loadmode.Once {
			count(may, at, p)
		} else if at != "" && at != "system" && !o.answered(p) {
			count(want, at, p)
		}
	}
	return want, may
}

// count adds the marks of a piece at a place.
func count(marks map[string]int, at string, p piece) {
	for _, mark := range p.marks() {
		marks[at+" "+mark]++
	}
}

// checkPrefix checks that the last view is a prefix of this one if messages were only added.
// If a text was unloaded since, only its blocks may have changed.
func (c *conversation) checkPrefix(a *agent, request []stored, view []core.Message) {
	if c.placement != processors.InToolResult || c.mode == loadmode.Once || a.view == nil ||
		a.rebuilt || a.flagged != a.summary || !grew(a.last, request) {
		return
	}
	free := a.oracle.broke || a.began && c.mode == loadmode.Turn
	if a.rebase && c.rebased(a) {
		return
	}
	next := view
	for i, old := range a.view {
		place := c.placeOf(a.last, old)
		if (free || a.oracle.evicted) && place == "fallback" && c.placeOf(request, next[0]) != "fallback" {
			continue // the whole fallback message is gone
		}
		if len(next) == 0 {
			c.fail("%s: the view is shorter than the last", a.key.Agent)
		}
		same := reflect.DeepEqual(old, next[0])
		var id int
		_, _ = fmt.Sscanf(place, "#%d", &id)
		if !same && !(free && (a.oracle.gone[id] || place == "fallback")) && !(a.oracle.evicted && place == "fallback") {
			c.fail("%s: message %d of the view (%s) was\n%+v\nand is\n%+v", a.key.Agent, i, place, old, next[0])
		}
		next = next[1:]
	}
}

func grew(last, next []stored) bool {
	return len(next) >= len(last) && slices.EqualFunc(last, next[:len(last)], func(a, b stored) bool { return a.id == b.id })
}

// checkOverview checks that the session's overview is the one that it began with. Each change
// of the catalog is announced once, at the first turn that has it.
func (c *conversation) checkOverview(a *agent, request []stored, view []core.Message) {
	text := view[0].Added
	if i := strings.Index(text, "<active_skills>"); i >= 0 {
		text = strings.TrimSuffix(text[:i], "\n\n")
	}
	if a.rebase && c.rebased(a) {
		a.notes, a.listing, a.overview = nil, c.listing, ""
	}
	if a.rebase = false; a.overview == "" {
		a.overview = c.newOverview()
	}
	if strings.TrimPrefix(text, "\n\n") != a.overview {
		c.fail("%s: the overview is\n%q\nwant\n%q", a.key.Agent, text, a.overview)
	}
	for _, m := range view {
		n := strings.Count(m.Added, "<skills_changed>")
		want := 0
		if m.Origin != core.Inserted && slices.Contains(a.notes, request[m.Origin].id) {
			want = 1
		}
		if n != want && (n < want || len(a.notes) == 0 || !c.noteCut(a, request)) {
			c.fail("%s: %d notes at %s, want %d\n%s", a.key.Agent, n, c.placeOf(request, m), want, chattest.Shown(view))
		}
	}
}

// rebased reports whether the session has a new overview and no notes. It may
// where a note was cut, unless an equal message was taken for the one that it
// stood at.
func (c *conversation) rebased(a *agent) bool {
	rec, err := state.NewRecords(c.store).Load(context.Background(), a.key)
	c.must(err)
	return len(rec.Notes) == 0
}

func (c *conversation) noteCut(a *agent, request []stored) bool {
	return slices.ContainsFunc(a.notes, func(id int) bool { return !present(request, id) })
}

// newOverview is what a session gets that begins now.
func (c *conversation) newOverview() string {
	c.probes++
	key := core.SessionKey{Session: fmt.Sprintf("probe-%d", c.probes)}
	view, err := c.runtime.Prepare(context.Background(), core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}})
	c.must(err)
	for _, name := range c.world.Names() {
		if !strings.Contains(view.Messages[0].Text, fmt.Sprintf("<name>%s</name>Purpose %d of it.\n", name, c.world.Skills[name].Description)) {
			c.fail("%s is not in the overview %s", name, view.Messages[0].Text)
		}
	}
	return view.Messages[0].Text
}

// checkLoaded: the runtime says that just that is loaded.
func (c *conversation) checkLoaded(a *agent) {
	got, err := c.runtime.Loaded(adapter.WithKey(context.Background(), a.key))
	c.must(err)
	var have, want []string
	for _, l := range got {
		have = append(have, fmt.Sprint(l.Skill, l.Docs))
	}
	for _, h := range a.oracle.loaded {
		var docs []string
		for _, d := range h.docs {
			docs = append(docs, d.name)
		}
		want = append(want, fmt.Sprint(h.name, docs))
	}
	if !slices.Equal(have, want) {
		c.fail("%s: loaded are %v, want %v", a.key.Agent, have, want)
	}
	numbers := map[int]bool{}
	for _, m := range a.request() {
		if n, ok := state.ReceiptCall(m.Text); ok && len(a.oracle.deltas[m.id]) > 0 {
			if numbers[n] {
				c.fail("%s: call number %d was given twice", a.key.Agent, n)
			}
			numbers[n] = true
		}
	}
}

func cloned(messages []core.Message) []core.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Calls = slices.Clone(out[i].Calls)
	}
	return out
}
