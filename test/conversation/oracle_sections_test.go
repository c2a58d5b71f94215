package conversation_test

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// sections are those of each doc of the world. Section a contains section b.
var sections = []string{"a", "b", "c"}

// contains reports whether the text of a doc or a section contains that of a section.
func contains(whole, part string) bool {
	wholeDoc, wholeSection, _ := strings.Cut(whole, "#")
	partDoc, partSection, isSection := strings.Cut(part, "#")
	return isSection && wholeDoc == partDoc && (wholeSection == "" || wholeSection == "a" && partSection == "b")
}

// largest returns names without those of sections that another of them contains.
func largest(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(part string) bool {
		return slices.ContainsFunc(names, func(whole string) bool { return contains(whole, part) })
	})
}

// marks are all marks in the text of a piece: its own, and those of the sections in it.
func (p piece) marks() []string {
	all := []string{p.mark}
	skill, rest, isDoc := strings.Cut(strings.TrimPrefix(p.mark, "{doc "), "/")
	if !isDoc || !strings.HasPrefix(p.mark, "{doc ") {
		return all
	}
	name, _, _ := strings.Cut(rest, " v")
	doc, _, _ := strings.Cut(name, "#")
	for _, s := range sections {
		if part := doc + "#" + s; contains(name, part) {
			all = append(all, chattest.DocMark(skill, part, p.edition))
		}
	}
	return all
}

// wholeInView returns which doc or larger section in view contains the present text of a section, or
// "".
func (o *oracle) wholeInView(w *chattest.World, h *held, part string) string {
	edition, found := w.Edition(h.name, part), ""
	for _, d := range h.docs {
		isLarger := found == "" || contains(d.name, found)
		if d.edition == edition && o.seen(d.piece) && contains(d.name, part) && isLarger {
			found = d.name
		}
	}
	return found
}

// retireParts takes the sections out of what is loaded that docs contain.
func (o *oracle) retireParts(h *held, docs []string) {
	h.docs = slices.DeleteFunc(h.docs, func(d heldDoc) bool {
		isPart := slices.ContainsFunc(docs, func(whole string) bool { return contains(whole, d.name) })
		if isPart && d.edition > 0 {
			o.retire(d.piece)
		}
		return isPart
	})
}

// withWholes returns a selection with the docs and larger sections in view in place of sections.
func (o *oracle) withWholes(w *chattest.World, h *held, selected, asked []string) []string {
	for _, part := range asked {
		whole := o.wholeInView(w, h, part)
		i := slices.Index(selected, part)
		switch {
		case whole == "" || i < 0:
		case slices.Contains(selected, whole):
			selected = slices.Delete(slices.Clone(selected), i, i+1)
		default:
			selected = slices.Clone(selected)
			selected[i] = whole
		}
	}
	return selected
}
