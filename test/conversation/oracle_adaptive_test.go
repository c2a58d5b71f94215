package conversation_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
)

// somePrices are those of conversations in mode adaptive: at the first, text stays unless
// the prefix is dead; what the others decide is read off the view.
var somePrices = []loadmode.Prices{{Write: 1}, loadmode.DefaultPrices(), {Read: 0.3, Write: 1}, {Read: 1, Write: 1}}

// ends makes loads end with their turn. Their text stays if the request has a place for it.
func (o *oracle) ends(request []stored) {
	for _, h := range slices.Clone(o.loaded) {
		o.end(h)
	}
	o.broke = true
	for _, p := range o.old {
		o.gone[p.place] = true
	}
	for _, h := range o.ended {
		h.keep(func(p piece) bool {
			o.gone[p.place] = o.gone[p.place] || !present(request, p.place) // the fallback message showed the piece
			return present(request, p.place)
		})
	}
}

// end ends one load. Its text may stay.
func (o *oracle) end(h *held) {
	o.loaded = slices.DeleteFunc(o.loaded, func(x *held) bool { return x == h })
	if e := o.findEnded(o.ended, h.name); e == nil {
		o.ended = append(o.ended, h)
	} else {
		e.body, e.docs = h.body, append(e.docs, h.docs...)
	}
}

func (*oracle) findEnded(of []*held, name string) *held {
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

// settle learns from the first view of a turn which texts were cleared: none where clearing
// never pays and the prefix is alive.
func (c *conversation) settle(a *agent, request []stored, view []core.Message) {
	if !a.oracle.keeps || a.rebuilt || !a.began && !a.oracle.broke && a.alive {
		return
	}
	firstGone := -1 // after this place, texts may be removed within a turn too
	if !a.alive {
		firstGone = 0 // the host's cut breaks the prefix before all texts
	}
	for place, gone := range a.oracle.gone {
		if gone && (firstGone < 0 || place < firstGone) {
			firstGone = place
		}
	}
	o, got := a.oracle, map[string]bool{}
	for _, m := range view {
		for _, mark := range chattest.Marks.FindAllString(m.Added, -1) {
			got[c.placeOf(request, m)+" "+mark] = true
		}
	}
	o.old = slices.DeleteFunc(o.old, func(p piece) bool {
		if !present(request, p.place) || !a.began && p.place < firstGone {
			return false
		}
		is := got[fmt.Sprintf("#%d %s", p.place, p.mark)]
		byLoaded := slices.ContainsFunc(o.loaded, func(h *held) bool { return slices.ContainsFunc(h.pieces(), p.supersededBy) })
		if is && !byLoaded && !slices.ContainsFunc(o.shownEnded(), func(e piece) bool { return p.supersededBy(e) && got[fmt.Sprintf("#%d %s", e.place, e.mark)] }) {
			c.fail("%s: a superseded text is in view at #%d, and what supersedes it is not\n%s", a.key.Agent, p.place, chattest.Shown(view))
		}
		return !is
	})
	cut := -1
	for _, p := range o.shownEnded() {
		if cut < 0 && (a.began || firstGone >= 0 && p.place > firstGone) && !got[fmt.Sprintf("#%d %s", p.place, p.mark)] {
			cut = p.place
		}
	}
	for _, h := range o.ended {
		h.keep(func(p piece) bool {
			return !a.began && p.place < firstGone || got[fmt.Sprintf("#%d %s", p.place, p.mark)]
		})
	}
	o.ended = slices.DeleteFunc(o.ended, func(h *held) bool { return h.body.edition <= 0 && len(h.docs) == 0 })
	if cut < 0 {
		decided.kept.Add(int64(len(o.ended)))
		return
	}
	decided.cleared.Add(1)
	if c.mode == loadmode.Adaptive && c.prices.Read == 0 && a.alive && a.began {
		c.fail("%s: the text at #%d was cleared where carrying it is free\n%s", a.key.Agent, cut, chattest.Shown(view))
	}
	o.broke = true
	for _, m := range request {
		if m.id >= cut {
			o.gone[m.id] = true
		}
	}
}

// supersededBy reports whether e is a later text of the same doc, of one that contains the section,
// or of the skill.
func (p piece) supersededBy(e piece) bool {
	name, _, _ := strings.Cut(p.mark, " v")
	skill, _, _ := strings.Cut(strings.TrimPrefix(name, "{doc "), "/")
	later, _, _ := strings.Cut(e.mark, " v")
	return e.place > p.place && (later == name || contains(later, name) || strings.HasPrefix(e.mark, "{body "+skill+" v"))
}

// revive makes the text of an ended load part of a new one, and reports what it is.
func (o *oracle) revive(name string) *held {
	h := o.findEnded(o.ended, name)
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
	if h := o.findEnded(o.ended, name); h != nil && h.body.edition > 0 && o.seen(h.body) {
		return h
	}
	return nil
}
