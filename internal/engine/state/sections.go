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

// SectionPlace describes the place of a section in its doc.
type SectionPlace struct {
	// In are the texts that contain the section: its doc and larger sections.
	In []Whole
	// Parts are the names of the sections in it.
	Parts []string
}

// Whole is a text that contains a section.
type Whole struct{ Name, Digest string }

// IsCoveredBy reports whether the text of a name replaces that of d: it is a later text of the same
// doc or section, or one that contains the section.
func (d *Doc) IsCoveredBy(name string) bool {
	return name == d.Name || name == SectionDoc(d.Name) || d.By != "" && name == d.By
}

// coverOf returns which of docs contains the section of a name, or "".
func coverOf(name string, docs []Doc) string {
	doc := SectionDoc(name)
	if doc == "" {
		return ""
	}
	if hasDoc(docs, doc) {
		return doc
	}
	for i := range docs {
		if p := docs[i].Place; p != nil && slices.Contains(p.Parts, name) {
			return docs[i].Name
		}
	}
	return ""
}

// withoutParts returns docs without sections that another of them contains.
func withoutParts(docs []Doc) []Doc {
	part := func(d Doc) bool { return coverOf(d.Name, docs) != "" }
	if !slices.ContainsFunc(docs, part) {
		return docs
	}
	return slices.DeleteFunc(slices.Clone(docs), part) // part still sees all of docs
}

// withoutPartsOf returns names without those of sections of docs.
func withoutPartsOf(names []string, docs []Doc) []string {
	part := func(name string) bool { return coverOf(name, docs) != "" }
	if !slices.ContainsFunc(names, part) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), part)
}

// withWhole returns names with a text that contains a section in place of the section.
func withWhole(names []string, section, whole string) []string {
	names = slices.Clone(names)
	if slices.Contains(names, whole) {
		return slices.DeleteFunc(names, func(name string) bool { return name == section })
	}
	if i := slices.Index(names, section); i >= 0 {
		names[i] = whole
	}
	return names
}

// wholeInView returns which text in view contains the present text of a section, or "". hasOlder
// reports that a text in view contains an older text of it.
func (r *Record) wholeInView(skill string, section *Doc, shows func(*Delivery) bool) (whole string, hasOlder bool) {
	if section.Place == nil {
		return "", false
	}
	for _, w := range section.Place.In {
		digest := ""
		shown := r.anyDelivery(skill, func(d *Delivery) bool {
			return !d.Old && shows(d) && slices.ContainsFunc(d.Docs, func(x Doc) bool {
				digest = x.Digest
				return x.Name == w.Name && !x.Old
			})
		})
		if shown && digest == w.Digest {
			return w.Name, false
		}
		hasOlder = hasOlder || shown
	}
	return "", hasOlder
}

// RemoveParts removes sections that calls before a call have delivered, and deselects them if no
// later call has delivered them again. parts are their names.
func (r *Record) RemoveParts(skill string, call int, parts []string) {
	var removed []string
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Skill != skill {
			continue
		}
		if d.Call < call {
			d.Docs = slices.DeleteFunc(d.Docs, func(doc Doc) bool {
				isPart := slices.Contains(parts, doc.Name)
				if isPart {
					removed = append(removed, doc.Name)
				}
				return isPart
			})
		} else {
			removed = slices.DeleteFunc(removed, func(name string) bool { return hasDoc(d.Docs, name) })
		}
	}
	if a := r.Find(skill); a != nil && len(removed) > 0 {
		a.Docs = slices.DeleteFunc(a.Docs, func(name string) bool { return slices.Contains(removed, name) })
	}
}

// supersedeSections marks the delivered sections that docs contain as old, or removes them if they
// are not in view. It reports whether one was in view.
func (r *Record) supersedeSections(skill string, docs []Doc, shows func(*Delivery) bool) (wasShown bool) {
	part := func(d Doc) bool { return !d.Old && coverOf(d.Name, docs) != "" }
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
			d.Docs[j].supersedeBy(docs)
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

// supersedeBy marks a section as old if one of docs contains it.
func (d *Doc) supersedeBy(docs []Doc) {
	whole := coverOf(d.Name, docs)
	if whole == "" {
		return
	}
	d.Old = true
	if whole != SectionDoc(d.Name) {
		d.By = whole
	}
}
