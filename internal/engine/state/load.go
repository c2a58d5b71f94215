package state

import "slices"

// Load is a skill that a call, or the host, loads.
type Load struct {
	// Call is the number of the call. Anchor is set for a load that no call made:
	// it is the user message that carries the content.
	Call   int
	Anchor *Mark
	Skill  string
	ID     string // the canonical id of the skill, "" where it is not known
	// Revision is that of the skill, "" where its source keeps none.
	Revision string
	Digest   string // of the body
	// Docs are the docs to load with it; All reports that every doc was asked for.
	Docs []Doc
	All  bool
	// Selected are the docs that were selected with an earlier text of the skill,
	// as they are now: if the body has changed they are delivered with it.
	Selected []Doc
	// Listing is the digest of a text that follows the body, "" for none.
	Listing string
}

// Loading is what a load has changed.
type Loading struct {
	Delivery Delivery // what the call brought into view; perhaps neither Body nor Docs
	Docs     []string // docs that were delivered or came back into the load
	Began    bool     // the skill was not loaded before
	Restored bool     // the body takes the place of its outline
}

// Load makes a skill loaded and delivers those of its texts that the model does
// not see. shows reports whether the content of a delivery is in view. A changed
// body supersedes everything that was delivered of the skill; superseded texts
// that are not in view are removed at once. The call and its replay from a
// receipt use the same transition. The list of allowed tools must be noted
// separately, before.
func (r *Record) Load(l Load, shows func(*Delivery) bool) Loading {
	out := Loading{Began: r.Find(l.Skill) == nil}
	var revived []string
	if out.Began {
		revived = r.revive(l.Skill, shows)
	}
	seen := r.anyDelivery(l.Skill, func(d *Delivery) bool { return d.Body && shows(d) })
	old, delivered := r.Body(l.Skill)
	other := r.isOther(l.Skill, l.ID)
	changed := delivered && (old != l.Digest || other)
	out.Restored = delivered && old != l.Digest && r.Full(old) == l.Digest && !other
	d := Delivery{
		Call: l.Call, Turn: r.Turn, Skill: l.Skill, Digest: l.Digest,
		Body: changed || !seen, Anchor: l.Anchor, Seen: true,
	}
	docs := l.Docs
	if !seen {
		r.dropBody(l.Skill) // docs that are in view stay at their calls
	}
	if changed {
		docs = withSelected(docs, l.Selected)
		d.Supersedes = r.anyDelivery(l.Skill, shows)
		r.supersede(l.Skill)
	}
	a := r.Activate(l.Skill, l.Digest)
	if out.Began {
		a.Call, a.Docs = l.Call, revived
	}
	if l.ID != "" {
		a.ID = l.ID
	}
	a.Revision = l.Revision
	a.All = a.All || l.All
	if changed { // a doc that is gone is no longer selected
		a.Docs = slices.DeleteFunc(a.Docs, func(name string) bool { return !hasDoc(docs, name) })
	}
	if d.Body {
		d.Listing = l.Listing
	}
	out.Docs = r.deliver(&d, docs, shows)
	for _, name := range out.Docs {
		if !slices.Contains(a.Docs, name) {
			a.Docs = append(a.Docs, name)
		}
	}
	out.Delivery = d
	if out.Began {
		out.Docs = slices.Clone(a.Docs)
	}
	return out
}

// isOther reports whether the name of a loaded skill means another skill now.
func (r *Record) isOther(skill, id string) bool {
	a := r.Find(skill)
	return a != nil && a.ID != "" && id != "" && a.ID != id
}

// Select makes docs the selection of a loaded skill and delivers those of offered
// that the model does not see. The skill must be loaded.
func (r *Record) Select(call int, skill string, docs []string, all bool, offered []Doc, shows func(*Delivery) bool) {
	r.deselect(skill, docs, all)
	r.Touch(skill)
	d := Delivery{Call: call, Turn: r.Turn, Skill: skill, Digest: r.Find(skill).Digest, Seen: true}
	r.deliver(&d, offered, shows)
}

// deliver adds to d those docs whose present text is not in view, adds d to the
// deliveries if it then has content, and returns the names of the docs.
func (r *Record) deliver(d *Delivery, docs []Doc, shows func(*Delivery) bool) (added []string) {
	for _, doc := range docs {
		digest, listed := r.docIn(d.Skill, doc.Name)
		seen := r.anyDelivery(d.Skill, func(x *Delivery) bool {
			return shows(x) && slices.ContainsFunc(x.Docs, func(there Doc) bool { return there.Name == doc.Name && !there.Old })
		})
		switch {
		case listed && seen && digest == doc.Digest:
			continue
		case listed && seen:
			r.supersedeDoc(d.Skill, doc.Name)
			d.Supersedes = true
		case listed:
			r.dropDoc(d.Skill, doc.Name) // a text that is not in view can go at once
		}
		d.Docs = append(d.Docs, Doc{Name: doc.Name, Digest: doc.Digest, Framed: doc.Framed})
		added = append(added, doc.Name)
	}
	if d.Body || len(d.Docs) > 0 {
		r.Deliver(*d)
	}
	return added
}

func (r *Record) anyDelivery(skill string, is func(*Delivery) bool) bool {
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill == skill && is(&r.Deliveries[i]) {
			return true
		}
	}
	return false
}

func withSelected(docs, selected []Doc) []Doc {
	docs = slices.Clone(docs)
	for _, s := range selected {
		if !hasDoc(docs, s.Name) {
			docs = append(docs, s)
		}
	}
	return docs
}

func hasDoc(docs []Doc, name string) bool {
	return slices.ContainsFunc(docs, func(d Doc) bool { return d.Name == name })
}
