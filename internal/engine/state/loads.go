package state

import (
	"slices"
)

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

// LoadState is what is loaded, and what the view shows of it.
type LoadState struct {
	// Uses is the clock of last use; it counts touches, not time.
	Uses int `json:"uses"`
	// Active are the loaded skills in load order.
	Active []Active `json:"active,omitempty"`
	// Deliveries are the contents that the view shows, by call number.
	Deliveries []Delivery `json:"deliveries,omitempty"`
	// Shelf has more of them in a stored record.
	Shelf   Shelf `json:"shelf,omitzero"`
	shelved []Delivery
	// Recent are the skills that were loaded lately; see [Record.Remember].
	Recent []RecentLoad `json:"recent,omitempty"`
	// Compact are skills whose texts give way to an outline when the next turn begins.
	// Shortened are the texts whose outlines are in view in their place.
	Compact   []Compaction `json:"compact,omitempty"`
	Shortened []Shortened  `json:"shortened,omitempty"`
}

// Touch makes skill the most recently used one, if it is loaded.
func (r *Record) Touch(skill string) {
	if a := r.Find(skill); a != nil {
		r.Uses++
		a.Used = r.Uses
	}
}

// Activate makes skill loaded at the digest of its body and touches it. A skill
// that was not loaded comes last in load order.
func (r *Record) Activate(skill, digest string) *Active {
	if r.Find(skill) == nil {
		r.Active = append(r.Active, Active{Skill: skill})
	}
	a := r.Find(skill)
	a.Digest = digest
	r.Touch(skill)
	a.Loaded = a.Used
	r.Remember(skill)
	return a
}

// Unload removes skill and everything that was delivered of it, and reports whether
// it was loaded.
func (r *Record) Unload(skill string) bool {
	n := len(r.Active)
	r.Active = slices.DeleteFunc(r.Active, func(a Active) bool { return a.Skill == skill })
	if len(r.Active) == n {
		return false
	}
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool { return d.Skill == skill })
	r.Break()
	return true
}

// Break drops texts that newer ones supersede. Call it where the prefix of the
// request breaks anyway: there, dropping them costs nothing.
func (r *Record) Break() {
	for i := range r.Deliveries {
		r.Deliveries[i].Docs = slices.DeleteFunc(r.Deliveries[i].Docs, func(d Doc) bool { return d.Old })
	}
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Old || !d.Body && len(d.Docs) == 0
	})
}

// dropBody removes the body of skill from the deliveries, because it is not in view
// and is about to be delivered again. The docs stay at their calls.
func (r *Record) dropBody(skill string) {
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool { return d.Skill == skill && len(d.Docs) == 0 })
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill == skill {
			r.Deliveries[i].Body, r.Deliveries[i].Listing = false, ""
		}
	}
}

// dropDoc removes the newest text of one doc from the deliveries. Older texts of it
// stay until the next break.
func (r *Record) dropDoc(skill, doc string) {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && !d.Old {
			d.Docs = slices.DeleteFunc(d.Docs, func(x Doc) bool { return x.Name == doc && !x.Old })
		}
	}
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Skill == skill && !d.Body && len(d.Docs) == 0
	})
}

// Deliver adds a delivery. Deliveries are in the order of their calls.
func (r *Record) Deliver(d Delivery) {
	i := len(r.Deliveries)
	for i > 0 && r.Deliveries[i-1].Call > d.Call {
		i--
	}
	r.Deliveries = slices.Insert(r.Deliveries, i, d)
}

// Body returns the digest of the newest body of skill that was delivered. ok is
// false if there is none.
func (r *Record) Body(skill string) (digest string, ok bool) {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && d.Body && !d.Old {
			digest, ok = d.Digest, true
		}
	}
	return digest, ok
}

// docIn returns the digest of the newest text of a doc that was delivered. ok is
// false if there is none.
func (r *Record) docIn(skill, doc string) (digest string, ok bool) {
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Skill != skill || d.Old {
			continue
		}
		for _, x := range d.Docs {
			if x.Name == doc && !x.Old {
				digest, ok = x.Digest, true
			}
		}
	}
	return digest, ok
}

// supersede marks everything delivered of skill as old.
func (r *Record) supersede(skill string) {
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill == skill {
			r.Deliveries[i].Old = true
		}
	}
}

// supersedeDoc marks one delivered doc of skill as old.
func (r *Record) supersedeDoc(skill, doc string) {
	for i := range r.Deliveries {
		for j := range r.Deliveries[i].Docs {
			if r.Deliveries[i].Skill == skill && r.Deliveries[i].Docs[j].Name == doc {
				r.Deliveries[i].Docs[j].Old = true
			}
		}
	}
}

// deselect sets the selection of skill to docs and removes whatever is no longer
// selected from the deliveries. Superseded texts wait for a break; they make none. The
// skill must be loaded.
func (r *Record) deselect(skill string, docs []string, all bool) {
	a := r.Find(skill)
	a.Docs, a.All = docs, all
	gone := false
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill != skill || r.Deliveries[i].Old {
			continue
		}
		r.Deliveries[i].Docs = slices.DeleteFunc(r.Deliveries[i].Docs, func(d Doc) bool {
			out := !d.Old && !slices.Contains(docs, d.Name)
			gone = gone || out
			return out
		})
	}
	if gone {
		r.Break()
	}
}

// revive moves the content of an ended load that is still in view, as shown reports, into a
// new load. It removes the rest, and returns the names of the docs that it revived.
func (r *Record) revive(skill string, shown func(*Delivery) bool) (docs []string) {
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Skill == skill && d.Ended && !d.Old && !shown(&d)
	})
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Skill != skill || !d.Ended || d.Old {
			continue
		}
		d.Ended = false
		for _, doc := range d.Docs {
			if !doc.Old && !slices.Contains(docs, doc.Name) {
				docs = append(docs, doc.Name)
			}
		}
	}
	return docs
}

// RecentLoad is a skill that was loaded, and the turn in which that happened last.
type RecentLoad struct {
	Skill string `json:"skill"`
	Turn  int    `json:"turn"`
}

// Remember notes that skill is loaded in the present turn. Record.Recent keeps 16
// names of those that [Record.LoadedLately] returns, the latest last.
func (r *Record) Remember(skill string) {
	r.Recent = slices.DeleteFunc(r.Recent, func(l RecentLoad) bool { return l.Skill == skill || l.Turn < r.Turn-recentTurns })
	r.Recent = append(r.Recent, RecentLoad{skill, r.Turn})
	r.Recent = r.Recent[max(0, len(r.Recent)-maxRecent):]
}

// LoadedLately names the skills that were loaded in this turn or the two before, the
// latest last.
func (r *Record) LoadedLately() []string {
	var names []string
	for _, l := range r.Recent {
		if l.Turn >= r.Turn-recentTurns {
			names = append(names, l.Skill)
		}
	}
	return names
}
