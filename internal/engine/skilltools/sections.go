package skilltools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// docRef is a doc that a call names, or a section of it: "forms.md" or "forms.md#Filling in".
type docRef struct {
	asked     string
	doc       string // cleaned
	heading   string
	isSection bool
}

// refOf returns what a name means. known are the docs of the skill. A doc whose name contains "#"
// goes before a section, and the longest name of a doc before shorter ones.
func refOf(name string, known []string) (ref docRef, ok bool) {
	if doc := path.Clean(name); isIn(known, doc) {
		return docRef{asked: name, doc: doc}, true
	}
	for doc, heading := range splits(name) {
		if isIn(known, doc) {
			return docRef{asked: name, doc: doc, heading: heading, isSection: true}, true
		}
	}
	return docRef{}, false
}

func isIn(sorted []string, name string) bool {
	_, found := slices.BinarySearch(sorted, name)
	return found
}

// splits yields the possible meanings of a name as a doc and a heading, from the last "#" on.
func splits(name string) func(yield func(doc, heading string) bool) {
	return func(yield func(doc, heading string) bool) {
		end := len(name)
		for range maxSplits {
			if end = strings.LastIndexByte(name[:end], '#'); end < 1 || len(name) > maxDocName || !yield(path.Clean(name[:end]), name[end+1:]) {
				return
			}
		}
	}
}

// docRefs returns what the names mean that the skill has, each once and in order.
func docRefs(names, known []string) (refs []docRef) {
	seen := map[docRef]bool{}
	for _, name := range names {
		ref, ok := refOf(name, known)
		meaning := docRef{doc: ref.doc, heading: ref.heading, isSection: ref.isSection}
		if ok && !seen[meaning] {
			seen[meaning], refs = true, append(refs, ref)
		}
	}
	return refs
}

// wholeDocs returns the refs of whole docs.
func wholeDocs(names []string) []docRef {
	refs := make([]docRef, len(names))
	for i, name := range names {
		refs[i] = docRef{asked: name, doc: name}
	}
	return refs
}

// unknownHeading is the error for a section that a doc does not have.
type unknownHeading struct{ tools.ModelError }

// section cuts a section out of the text of a doc. A section that is the whole doc is the doc. A
// text of a remote server keeps the line that says so. The error is an unknownHeading.
func section(skill core.Skill, ref docRef, doc catalog.Content) (docText, error) {
	from, text := "", doc.Text
	if skill.Origin != "" {
		if end := strings.Index(text, "\n\n"); end >= 0 {
			from, text = text[:end+2], text[end+2:]
		}
	}
	headings := skilltext.Headings(text)
	i := skilltext.FindHeading(headings, ref.heading)
	if i < 0 {
		return docText{}, unknownHeading{tools.ModelError(fmt.Sprintf("doc %q of %q has no heading %q; %s",
			printable.Cut(ref.doc, 200), skill.Name, printable.Cut(ref.heading, 200), headingHint(headings, ref.heading)))}
	}
	one := &headings[i]
	if isWhole(one, text) {
		return docText{name: ref.doc, content: doc}, nil
	}
	name := func(h *skilltext.Heading) string { return ref.doc + "#" + h.Anchor }
	cut := func(h *skilltext.Heading) catalog.Content {
		part := from + text[h.Start:h.End]
		return catalog.Content{Text: part, Digest: session.Digest(part)}
	}
	d := docText{name: name(one), content: cut(one), place: &state.SectionPlace{In: []state.Whole{{Name: ref.doc, Digest: doc.Digest}}}}
	for j := range headings {
		switch h := &headings[j]; {
		case j < i && h.End >= one.End && !isWhole(h, text):
			d.place.In = append(d.place.In, state.Whole{Name: name(h), Digest: cut(h).Digest})
		case j > i && h.Start < one.End:
			d.place.Parts = append(d.place.Parts, name(h))
		}
	}
	return d, nil
}

// isWhole reports whether the section of a heading is the whole text.
func isWhole(h *skilltext.Heading, text string) bool {
	return strings.TrimSpace(text[h.Start:h.End]) == strings.TrimSpace(text)
}

// headingHint names the headings that were most likely meant, or else all.
func headingHint(headings []skilltext.Heading, asked string) string {
	if len(headings) == 0 {
		return "it has none: name the doc without \"#\""
	}
	want := skilltext.Anchor(asked)
	allowed := min((len(want)+1)/4, 3)
	var near, all []string
	for _, h := range headings {
		all = append(all, h.Anchor)
		isPart := len(want) > 2 && (strings.Contains(h.Anchor, want) || len(h.Anchor) > 2 && strings.Contains(want, h.Anchor))
		if isPart || search.Distance([]byte(h.Anchor), []byte(want), allowed+1) <= allowed {
			near = append(near, h.Anchor)
		}
	}
	if len(near) > 0 {
		return "did you mean " + quotedList(near[:min(len(near), maxNear)]) + "?"
	}
	return "its headings are " + jsonList(all, maxListedHeadings)
}

// ReadDoc reads a doc or a section by the name that a record has for it. parts are the names of
// the sections in a section.
func ReadDoc(ctx context.Context, skills *catalog.Catalog, skill core.Skill, name string) (c catalog.Content, parts []string, err error) {
	c, err = skills.Doc(ctx, skill.Name, name)
	doc := state.SectionDoc(name)
	if doc == "" || !errors.Is(err, catalog.ErrUnknownDoc) {
		return c, nil, err
	}
	if c, err = skills.Doc(ctx, skill.Name, doc); err != nil {
		return c, nil, err
	}
	text, err := section(skill, docRef{doc: doc, heading: name[len(doc)+1:]}, c)
	if text.place != nil {
		parts = text.place.Parts
	}
	return text.content, parts, err
}

// listedDocs returns the names of docs, and after each long one the names of its sections. It
// names at most limit sections, and reads no more than the first docs of a long list. A doc that
// cannot be read counts as short. known are all docs of the skill.
func listedDocs(ctx context.Context, from *catalog.Catalog, skill core.Skill, known, docs []string, limit int) ([]string, error) {
	var all []string
	room := maxSizedBytes
	for i, doc := range docs {
		all = append(all, doc)
		if i >= maxSized || room <= 0 || limit <= 0 {
			continue
		}
		c, err := from.DocOf(ctx, skill.Name, known, doc)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if room -= len(c.Text); err == nil {
			sections := sectionNames(skill, doc, c.Text)
			sections = sections[:min(len(sections), limit)]
			all, limit = append(all, sections...), limit-len(sections)
		}
	}
	return all, nil
}

// sectionNames returns the names of the sections of a long doc, of as many levels as a list has
// room for. It leaves out a section that is the whole doc.
func sectionNames(skill core.Skill, doc, text string) []string {
	if len(text) < longDocTokens || prompttext.Estimate(text) <= longDocTokens {
		return nil
	}
	if skill.Origin != "" {
		_, text, _ = strings.Cut(text, "\n\n")
	}
	headings := skilltext.Headings(text)
	headings = slices.DeleteFunc(headings, func(h skilltext.Heading) bool {
		return isWhole(&h, text)
	})
	var counts [7]int
	for _, h := range headings {
		counts[h.Level]++
	}
	deepest, n := 0, 0
	for level, count := range counts {
		if n += count; n > maxListedHeadings && deepest > 0 {
			break
		}
		if count > 0 {
			deepest = level
		}
	}
	var names []string
	for _, h := range headings {
		if h.Level <= deepest && len(names) < maxListedHeadings {
			names = append(names, doc+"#"+h.Anchor)
		}
	}
	return names
}
