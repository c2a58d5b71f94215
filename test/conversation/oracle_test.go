package conversation_test

import (
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
)

// oracle says what should be loaded and where it should be shown. It knows the
// rules of the tools and of the view, and nothing of how they are kept.
type oracle struct {
	mode loadmode.Mode
	// keeps reports that the text of an ended load may stay.
	keeps  bool
	max    int
	loaded []*held
	clock  int
	// response is the number of the model's responses.
	response int
	// ended holds loads of earlier turns whose text is still in view, in mode adaptive.
	ended []*held
	// old holds superseded texts, which may stay in place until the next break.
	old []piece
	// gone holds the places from which text was removed since the last view.
	gone map[int]bool
	// broke reports that the next view may differ from the last one at the places of gone.
	broke bool
	// evicted reports that the cap has ended a load since the last view. Its text leaves the
	// fallback message, and stays elsewhere.
	evicted bool
	// hidden holds pieces that the last request lacked without a substitute.
	hidden map[string]bool
	// deltas holds the changes that each stored result reports, by message id.
	deltas map[int][]delta
}

// piece is a text at its place: the id of the message that delivered it.
type piece struct {
	mark     string
	edition  int
	place    int
	response int
	nth      int // index among the docs of its delivery
}

// id is the piece at its place.
func (p piece) id() string { return fmt.Sprintf("#%d %s", p.place, p.mark) }

type held struct {
	name string
	body piece
	docs []heldDoc // in selection order
	used int
}

type heldDoc struct {
	name string
	piece
}

// delta is one change that a stored result tells of.
type delta struct {
	op      byte // '+', '=', '-'
	skill   string
	edition int
	docs    []string
	asked   []string // docs that the call selected, for op '='
}

func newOracle(mode loadmode.Mode, keeps bool, limit int) *oracle {
	return &oracle{mode: mode, keeps: keeps, max: limit, gone: map[int]bool{}, hidden: map[string]bool{}, deltas: map[int][]delta{}}
}

func (o *oracle) find(name string) *held {
	for _, h := range o.loaded {
		if h.name == name {
			return h
		}
	}
	return nil
}

func (h *held) doc(name string) *heldDoc {
	for i := range h.docs {
		if h.docs[i].name == name {
			return &h.docs[i]
		}
	}
	return nil
}

func (h *held) pieces() []piece {
	all := []piece{h.body}
	for _, d := range h.docs {
		all = append(all, d.piece)
	}
	return all
}

// answered reports whether a piece has had its one showing.
func (o *oracle) answered(p piece) bool { return o.mode == loadmode.Once && p.response < o.response }

func (o *oracle) seen(p piece) bool { return !o.answered(p) && !o.hidden[p.id()] }

func (o *oracle) touch(h *held) {
	o.clock++
	h.used = o.clock
}

// retire takes a piece out of what is loaded: a text that somebody sees stays
// until the next break.
func (o *oracle) retire(p piece) {
	if o.seen(p) {
		o.old = append(o.old, p)
	} else {
		o.gone[p.place] = true
	}
}

// breaks says that the prefix breaks here, so superseded texts go too.
func (o *oracle) breaks() {
	o.broke = true
	for _, p := range o.old {
		o.gone[p.place] = true
	}
	o.old = nil
}

func (o *oracle) unload(name string) bool {
	h := o.find(name)
	if h == nil {
		return false
	}
	o.breaks()
	for _, p := range h.pieces() {
		o.gone[p.place] = true
	}
	o.loaded = slices.DeleteFunc(o.loaded, func(x *held) bool { return x == h })
	return true
}

// load loads skills that exist, with docs of those names that exist.
func (o *oracle) load(w *chattest.World, at int, names, docs []string, all, replace bool) {
	var said []delta
	if replace {
		for _, h := range slices.Clone(o.loaded) {
			if !slices.Contains(names, h.name) {
				o.unload(h.name)
				said = append(said, delta{op: '-', skill: h.name})
			}
		}
	}
	for _, name := range names {
		if d, changed := o.loadOne(w, at, name, docs, all); changed {
			said = append(said, d)
		}
	}
	for _, name := range o.evict(names) {
		said = append(said, delta{op: '-', skill: name})
	}
	o.deltas[at] = said
}

// evict unloads the least recently used skills beyond the cap. Their texts may stay.
func (o *oracle) evict(keep []string) (names []string) {
	for o.max > 0 && len(o.loaded) > o.max {
		var victim *held
		for _, h := range o.loaded {
			if !slices.Contains(keep, h.name) && (victim == nil || h.used < victim.used) {
				victim = h
			}
		}
		if o.keeps {
			o.end(victim)
			o.evicted = true
		} else {
			o.unload(victim.name)
		}
		names = append(names, victim.name)
	}
	return names
}

func (o *oracle) loadOne(w *chattest.World, at int, name string, docs []string, all bool) (delta, bool) {
	s := w.Skills[name]
	want := slices.DeleteFunc(slices.Clone(docs), func(d string) bool { return w.Edition(name, d) == 0 })
	if all {
		want = sortedKeys(s.Docs)
	}
	fresh := piece{chattest.BodyMark(name, s.Body), s.Body, at, o.response, 0}
	h := o.find(name)
	changed := h == nil
	revived := false
	if h == nil {
		h = o.revive(name)
		revived = h != nil
	}
	if h == nil {
		h = &held{name: name, body: fresh}
		o.loaded = append(o.loaded, h)
	} else if edited := h.body.edition > 0 && h.body.edition != s.Body; edited || h.body.edition < 0 || !o.seen(h.body) {
		changed = true
		if h.body.edition > 0 {
			o.retire(h.body)
		}
		h.body = fresh
		for i, d := range h.docs {
			if !edited {
				break
			}
			// A new version of the text comes with all docs that were selected.
			if !slices.Contains(want, d.name) && !revived {
				want = append(want, d.name)
			}
			o.retire(d.piece)
			h.docs[i].edition = -1
		}
		if edited && revived {
			h.docs = slices.DeleteFunc(h.docs, func(d heldDoc) bool { return !slices.Contains(want, d.name) })
		}
	}
	want = largest(want)
	o.retireParts(h, want)
	delivered := o.deliverDocs(w, h, at, want)
	o.touch(h)
	if revived {
		delivered = nil
		for _, d := range h.docs {
			delivered = append(delivered, d.name)
		}
	}
	return delta{op: '+', skill: name, edition: s.Body, docs: delivered}, changed || len(delivered) > 0
}

// deliverDocs brings docs into view that are not there, and returns them.
func (o *oracle) deliverDocs(w *chattest.World, h *held, at int, docs []string) (delivered []string) {
	for _, name := range docs {
		if o.wholeInView(w, h, name) != "" {
			continue
		}
		edition := w.Edition(h.name, name)
		fresh := piece{chattest.DocMark(h.name, name, edition), edition, at, o.response, len(delivered)}
		switch d := h.doc(name); {
		case d == nil:
			h.docs = append(h.docs, heldDoc{name, fresh})
		case d.edition == edition && o.seen(d.piece):
			continue
		default:
			if d.edition > 0 {
				o.retire(d.piece)
			}
			d.piece = fresh
		}
		delivered = append(delivered, name)
	}
	return delivered
}

// selectDocs changes the selection of a loaded skill to docs that exist.
func (o *oracle) selectDocs(w *chattest.World, at int, name string, docs []string, mode string) {
	h := o.find(name)
	selected := slices.Clone(docs)
	if mode == "add" {
		selected = nil
		for _, d := range h.docs {
			selected = append(selected, d.name)
		}
		for _, d := range docs {
			if !slices.Contains(selected, d) {
				selected = append(selected, d)
			}
		}
	}
	docs = largest(docs)
	selected = slices.DeleteFunc(selected, func(part string) bool {
		return slices.ContainsFunc(docs, func(whole string) bool { return contains(whole, part) })
	})
	selected = o.withWholes(w, h, selected, docs)
	o.retireParts(h, docs)
	o.deselect(h, selected)
	o.deliverDocs(w, h, at, docs)
	slices.SortFunc(h.docs, func(a, b heldDoc) int {
		return slices.Index(selected, a.name) - slices.Index(selected, b.name)
	})
	o.touch(h)
	o.deltas[at] = []delta{{op: '=', skill: name, docs: selected, asked: docs}}
}

func (o *oracle) deselect(h *held, selected []string) {
	for _, d := range slices.Clone(h.docs) {
		if !slices.Contains(selected, d.name) {
			o.breaks()
			o.gone[d.place] = true
			h.docs = slices.DeleteFunc(h.docs, func(x heldDoc) bool { return x.name == d.name })
		}
	}
}

// unloadNamed unloads what is named, or everything.
func (o *oracle) unloadNamed(at int, names []string, all bool) {
	if all {
		names = nil
		for _, h := range o.loaded {
			names = append(names, h.name)
		}
	}
	var said []delta
	for _, name := range names {
		if o.unload(name) {
			said = append(said, delta{op: '-', skill: name})
		}
	}
	o.deltas[at] = said
}

// clear is the end of every load.
func (o *oracle) clear() {
	for _, h := range slices.Clone(o.loaded) {
		o.unload(h.name)
	}
	for _, h := range o.ended {
		for _, p := range h.pieces() {
			o.gone[p.place], o.broke = true, true
		}
	}
	o.ended = nil
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
