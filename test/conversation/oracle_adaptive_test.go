package conversation_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// somePrices are those of conversations in mode adaptive: at the first, text stays unless
// the prefix is dead; what the others decide is read off the view.
var somePrices = []loadmode.Prices{{Write: 1}, loadmode.DefaultPrices(), {Read: 0.3, Write: 1}, {Read: 1, Write: 1}}

// ends makes loads end with their turn. Their text stays if the request has a place for it.
func (o *oracle) ends(request []stored) {
	for _, h := range o.loaded {
		if e := o.find2(o.ended, h.name); e == nil {
			o.ended = append(o.ended, h)
		} else {
			e.body, e.docs = h.body, append(e.docs, h.docs...)
		}
	}
	o.loaded, o.broke = nil, true
	for _, p := range o.old {
		o.gone[p.place] = true
	}
	for _, h := range o.ended {
		h.keep(func(p piece) bool {
			o.gone[p.place] = o.gone[p.place] || !present(request, p.place) // the fallback message showed it
			return present(request, p.place)
		})
	}
}

func (*oracle) find2(of []*held, name string) *held {
	for _, h := range of {
		if h.name == name {
			return h
		}
	}
	return nil
}

// keep takes out the pieces for which stays is false. A body that is gone has no edition.
func (h *held) keep(stays func(piece) bool) {
	if h.body.edition > 0 && !stays(h.body) {
		h.body.edition = -1
	}
	h.docs = slices.DeleteFunc(h.docs, func(d heldDoc) bool { return !stays(d.piece) })
}

// shown are the pieces of ended loads, in the order of their places.
func (o *oracle) shownEnded() (all []piece) {
	for _, h := range o.ended {
		for _, p := range h.pieces() {
			if p.edition > 0 {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Compare(a.place, b.place) })
	return all
}

// settle learns from the first view of a turn which texts were cleared: those from one
// place on, and none where clearing never pays and the prefix is alive.
func (c *conversation) settle(a *agent, request []stored, view []core.Message) {
	if c.mode != loadmode.Adaptive || c.placement != processors.InToolResult || !a.began || a.rebuilt {
		return
	}
	o, got := a.oracle, map[string]bool{}
	for _, m := range view {
		for _, mark := range chattest.Marks.FindAllString(m.Added, -1) {
			got[c.placeOf(request, m)+" "+mark] = true
		}
	}
	o.old = slices.DeleteFunc(o.old, func(p piece) bool {
		is := got[fmt.Sprintf("#%d %s", p.place, p.mark)]
		if is && !slices.ContainsFunc(o.shownEnded(), func(e piece) bool { return p.supersededBy(e) && got[fmt.Sprintf("#%d %s", e.place, e.mark)] }) {
			c.fail("%s: a superseded text is in view at #%d, and what supersedes it is not\n%s", a.key.Agent, p.place, chattest.Shown(view))
		}
		return !is
	})
	cut := -1
	for _, p := range o.shownEnded() {
		is := got[fmt.Sprintf("#%d %s", p.place, p.mark)]
		switch {
		case is && cut >= 0 && p.place != cut:
			c.fail("%s: the text at #%d is in view, and one before it, at #%d, was cleared\n%s", a.key.Agent, p.place, cut, chattest.Shown(view))
		case !is && cut < 0:
			cut = p.place
		}
	}
	for _, h := range o.ended {
		h.keep(func(p piece) bool { return got[fmt.Sprintf("#%d %s", p.place, p.mark)] })
	}
	o.ended = slices.DeleteFunc(o.ended, func(h *held) bool { return h.body.edition <= 0 && len(h.docs) == 0 })
	if cut < 0 {
		decided.kept.Add(int64(len(o.ended)))
		return
	}
	decided.cleared.Add(1)
	if c.prices.Read == 0 && a.alive {
		c.fail("%s: the text at #%d was cleared where carrying it is free\n%s", a.key.Agent, cut, chattest.Shown(view))
	}
	o.broke = true
	for _, m := range request {
		if m.id >= cut {
			o.gone[m.id] = true
		}
	}
}

// supersededBy reports whether e is a later text of the same doc, or of the skill.
func (p piece) supersededBy(e piece) bool {
	name, _, _ := strings.Cut(p.mark, " v")
	skill, _, _ := strings.Cut(strings.TrimPrefix(name, "{doc "), "/")
	return e.place > p.place && (strings.HasPrefix(e.mark, name+" v") || strings.HasPrefix(e.mark, "{body "+skill+" v"))
}

// revive makes the text of an ended load part of a new one, and reports what it is.
func (o *oracle) revive(name string) *held {
	h := o.find2(o.ended, name)
	if h == nil {
		return nil
	}
	o.ended = slices.DeleteFunc(o.ended, func(x *held) bool { return x == h })
	h.keep(o.seen)
	slices.SortStableFunc(h.docs, func(a, b heldDoc) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.nth, b.nth)) })
	o.loaded = append(o.loaded, h)
	return h
}

// inView reports whether the body of a load that has ended is in view.
func (o *oracle) inView(name string) *held {
	if h := o.find2(o.ended, name); h != nil && h.body.edition > 0 && o.seen(h.body) {
		return h
	}
	return nil
}
