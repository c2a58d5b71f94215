package conversation_test

import (
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// begins tells the oracle what a request begins, before it is made.
func (c *conversation) begins(a *agent, request []stored) {
	switch {
	case !a.known:
		a.began, a.rebuilt, a.known = true, true, true
		a.rebuild(c.world, request, c.mode)
		a.notes, a.listing, a.overview = nil, c.listing, ""
	case a.fresh:
		a.began = true
		switch {
		case c.mode == loadmode.Adaptive && c.placement == processors.InToolResult:
			a.oracle.ends(request)
		case c.mode != loadmode.Session:
			a.oracle.clear()
		}
		a.rebase = c.noteCut(a, request)
		if a.listing != c.listing {
			a.notes, a.listing = append(a.notes, a.user), c.listing
		}
	default:
		return
	}
	a.fresh = false
	if a.loads != nil {
		c.declared(a, request)
	}
}

func (c *conversation) declared(a *agent, request []stored) {
	if request[len(request)-1].id != a.user {
		// The store was lost within the turn, and the loads are declared again. The
		// model has already seen them.
		a.oracle.response--
		defer func() { a.oracle.response++ }()
	}
	var names []string
	for _, l := range a.loads {
		names = append(names, l.Skill)
	}
	// Each skill gets its own docs, and none is evicted for another.
	limit := a.oracle.max
	a.oracle.max = 0
	for _, l := range a.loads {
		a.oracle.load(c.world, a.user, []string{l.Skill}, l.Docs, false, false)
	}
	a.oracle.max = limit
	a.oracle.load(c.world, a.user, names, nil, false, false)
	delete(a.oracle.deltas, a.user) // a user message reports no changes
}

// rebuild makes the oracle's state from what the results of a request say.
func (a *agent) rebuild(w *chattest.World, request []stored, mode loadmode.Mode) {
	o := a.oracle
	last := -1
	for i, m := range request {
		if m.Role == core.Assistant {
			last = i
		}
	}
	from := 0
	for i, m := range request {
		if mode != loadmode.Session && m.Role == core.User && !m.Rewritten {
			from = i
		}
	}
	o.loaded, o.ended, o.old, o.hidden = nil, nil, nil, map[string]bool{}
	o.breaks()
	current := o.response
	for i, m := range request {
		if i < from || m.id <= a.ended {
			continue
		}
		// Answered calls count as part of an earlier response.
		o.response = current
		at := piece{place: m.id, response: current}
		if i < last {
			at.response = current - 1
		}
		for _, d := range o.deltas[m.id] {
			o.replay(w, d, at)
		}
	}
	for _, h := range slices.Clone(o.loaded) {
		if s := w.Skills[h.name]; s == nil || s.Body != h.body.edition {
			o.unload(h.name)
		}
	}
	keeps := o.keeps // a receipt does not tell which texts stayed
	o.keeps = false
	o.evict(nil)
	o.keeps = keeps
}

func (o *oracle) replay(w *chattest.World, d delta, at piece) {
	h := o.find(d.skill)
	if d.op == '-' {
		o.unload(d.skill)
		return
	}
	if d.op == '=' && h == nil {
		return
	}
	if d.op == '+' {
		if h == nil {
			h = &held{name: d.skill, body: piece{edition: -1}}
			o.loaded = append(o.loaded, h)
		}
		if h.body.edition != d.edition || o.answered(h.body) {
			if h.body.edition > 0 && h.body.edition != d.edition {
				h.docs = nil
			}
			h.body = at
			h.body.edition, h.body.mark = d.edition, chattest.BodyMark(d.skill, d.edition)
		}
	} else {
		h.docs = slices.DeleteFunc(h.docs, func(x heldDoc) bool { return !slices.Contains(d.docs, x.name) })
	}
	for _, name := range d.docs {
		s := w.Skills[d.skill]
		if s == nil {
			continue // the skill no longer exists, so it is not restored
		}
		fresh := at
		edition := w.Edition(d.skill, name)
		fresh.edition, fresh.mark = edition, chattest.DocMark(d.skill, name, edition)
		if d.op == '+' {
			h.docs = slices.DeleteFunc(h.docs, func(x heldDoc) bool { return contains(name, x.name) })
		}
		if x := h.doc(name); x == nil {
			h.docs = append(h.docs, heldDoc{name, fresh})
		} else if d.op == '+' || o.answered(x.piece) && slices.Contains(d.asked, name) {
			x.piece = fresh
		}
	}
	if d.op == '=' {
		slices.SortFunc(h.docs, func(a, b heldDoc) int { return slices.Index(d.docs, a.name) - slices.Index(d.docs, b.name) })
	}
	o.touch(h)
}
