package state

import (
	"path"
	"slices"
	"strings"
)

// A section of a doc is delivered like a doc of its own. Its name is that of the doc, "#" and the
// anchor of its heading. Names of docs end with an extension and anchors contain no dot, so
// the name alone tells a section from a doc whose name contains "#".

// SectionDoc returns the doc of a section by the name of the section. It returns "" for a name of
// a doc.
func SectionDoc(name string) string {
	at := strings.LastIndexByte(name, '#')
	if at < 1 || at == len(name)-1 || strings.ContainsAny(name[at+1:], "./") || strings.EqualFold(path.Base(name[:at]), "SKILL.md") {
		return "" // the library names parts of a long SKILL.md so
	}
	return name[:at]
}

// Covers reports whether the text of a doc replaces that of another one: an older text of itself
// or of one of its sections.
func Covers(doc, other string) bool { return doc == other || doc == SectionDoc(other) }

// isPart reports whether a name is that of a section of one of docs.
func isPart(name string, docs []Doc) bool {
	doc := SectionDoc(name)
	return doc != "" && hasDoc(docs, doc)
}

// withoutParts returns docs without sections whose doc is there too.
func withoutParts(docs []Doc) []Doc {
	part := func(d Doc) bool { return isPart(d.Name, docs) }
	if !slices.ContainsFunc(docs, part) {
		return docs
	}
	return slices.DeleteFunc(slices.Clone(docs), part) // part still sees all of docs
}

// withoutPartsOf returns names without those of sections of docs.
func withoutPartsOf(names []string, docs []Doc) []string {
	part := func(name string) bool { return isPart(name, docs) }
	if !slices.ContainsFunc(names, part) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), part)
}

// withDoc returns names with the doc of a section in place of the section.
func withDoc(names []string, section string) []string {
	doc := SectionDoc(section)
	names = slices.Clone(names)
	if slices.Contains(names, doc) {
		return slices.DeleteFunc(names, func(name string) bool { return name == section })
	}
	if i := slices.Index(names, section); i >= 0 {
		names[i] = doc
	}
	return names
}

// isInDoc reports whether the present text of a section is in view as part of its doc.
func (r *Record) isInDoc(skill string, section *Doc, shows func(*Delivery) bool) bool {
	digest, shown := r.shownDoc(skill, section, shows)
	return shown && digest == section.Of
}

// shownDoc returns the digest of the doc in view from which a call has cut a section. The text in
// view may be older than that of the section.
func (r *Record) shownDoc(skill string, section *Doc, shows func(*Delivery) bool) (digest string, shown bool) {
	if section.Of == "" {
		return "", false
	}
	doc := SectionDoc(section.Name)
	shown = r.anyDelivery(skill, func(d *Delivery) bool {
		return !d.Old && shows(d) && slices.ContainsFunc(d.Docs, func(x Doc) bool {
			digest = x.Digest
			return x.Name == doc && !x.Old
		})
	})
	return digest, shown
}

// supersedeSections marks the delivered sections of docs as old, or removes them if they are not
// in view. It reports whether one was in view.
func (r *Record) supersedeSections(skill string, docs []Doc, shows func(*Delivery) bool) (wasShown bool) {
	part := func(d Doc) bool { return !d.Old && isPart(d.Name, docs) }
	hidden := false
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Skill != skill || d.Old || !slices.ContainsFunc(d.Docs, part) {
			continue
		}
		if !shows(d) {
			d.Docs, hidden = slices.DeleteFunc(d.Docs, part), true
			continue
		}
		for j := range d.Docs {
			d.Docs[j].Old = d.Docs[j].Old || part(d.Docs[j])
		}
		wasShown = true
	}
	if hidden {
		r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
			return d.Skill == skill && !d.Body && !d.Old && len(d.Docs) == 0
		})
	}
	return wasShown
}
