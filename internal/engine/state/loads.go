package state

import (
	"cmp"
	"slices"
)

// Load describes a load of one skill by a call or by the host.
type Load struct {
	// Call is the number of the call. Anchor is set for a load without a call: it marks the
	// user message at which the view shows the content.
	Call   int
	Anchor *Mark
	Skill  string
	ID     string // the canonical id of the skill, "" if it is not known
	// Revision is the skill's revision, "" if its source keeps none.
	Revision string
	Digest   string // of the body
	// Rendered is the digest of the body with the arguments, "" if the body is shown as it is.
	// HasArguments reports that there are arguments. Without them, a text that is in view stays.
	Rendered     string
	HasArguments bool
	// Arguments are those of a load without a call, "" for any other.
	Arguments string
	// Docs are the docs to load with the skill. All reports that the call selects every doc.
	Docs []Doc
	All  bool
	// Selected are the present texts of docs that were selected before. If the body has
	// changed, they are delivered with it.
	Selected []Doc
	// Listing is the digest of a text that follows the body, "" for none.
	Listing string
}

// LoadResult reports what [Record.Load] has changed.
type LoadResult struct {
	Delivery   Delivery // the text that the call added to the view; it may be empty
	Docs       []string // docs that were delivered, or whose text was still in view
	IsNew      bool     // the skill was not loaded before
	IsRestored bool     // the body replaces its outline
	// HasNewArguments reports that the load has other arguments than the text that was in view.
	HasNewArguments bool
}

// Load marks a skill as loaded and delivers those of its texts that are not in view. shows
// reports whether the content of a delivery is in view. A changed body supersedes all earlier
// deliveries of the skill. Calls, and replays of calls from receipts, both use Load. The caller
// must call [Record.KeepList] first.
func (r *Record) Load(l Load, shows func(*Delivery) bool) LoadResult {
	out := LoadResult{IsNew: r.Find(l.Skill) == nil}
	var revived []string
	isPreloaded := r.IsPreloaded(l.Skill)
	if out.IsNew || r.IsPermanent(l.Skill) {
		revived = r.reuseEnded(l.Skill, shows)
	}
	isBody := func(d *Delivery) bool { return d.Body && !d.Old }
	seen := r.showsBody(l.Skill, shows) || isPreloaded && !r.anyDelivery(l.Skill, isBody)
	old, delivered := r.Body(l.Skill)
	other := r.isOtherSkill(l.Skill, l.ID)
	changed := delivered && (old != l.Digest || other)
	out.HasNewArguments = delivered && !changed && l.HasArguments && l.Rendered != r.Rendered(l.Skill)
	changed = changed || out.HasNewArguments
	out.IsRestored = delivered && old != l.Digest && r.Full(old) == l.Digest && !other
	d := Delivery{
		Call: l.Call, Turn: r.Turn, Skill: l.Skill, Digest: l.Digest,
		Body: changed || !seen, Anchor: l.Anchor, Seen: true,
	}
	docs := withoutParts(l.Docs)
	if task := r.task(l.Skill); task != nil && !seen { // the newer text is not in view, and the task is
		d.Supersedes = true
	}
	if !seen {
		r.dropBody(l.Skill) // docs in view stay at their calls
	}
	if changed {
		docs = withoutParts(withSelected(docs, l.Selected))
		d.Supersedes = isPreloaded || r.anyDelivery(l.Skill, shows)
		r.supersede(l.Skill)
	}
	a := r.Activate(l.Skill, l.Digest)
	if out.IsNew {
		a.Call, a.Docs = l.Call, revived
	}
	for _, doc := range revived {
		if !slices.Contains(a.Docs, doc) {
			a.Docs = append(a.Docs, doc)
		}
	}
	if l.ID != "" {
		a.ID = l.ID
	}
	a.Revision = l.Revision
	a.All = a.All || l.All
	if changed { // deselect docs that the new text no longer has
		a.Docs = slices.DeleteFunc(a.Docs, func(name string) bool { return !hasDoc(docs, name) })
	}
	if d.Body {
		d.Rendered, d.Arguments, d.Listing = l.Rendered, l.Arguments, l.Listing
	}
	if superseded := r.supersedeSections(l.Skill, docs, shows); superseded && !d.Body {
		d.Supersedes = true
	}
	a.Docs = withoutPartsOf(a.Docs, docs)
	out.Docs = r.deliver(&d, docs, shows)
	for _, name := range out.Docs {
		if !slices.Contains(a.Docs, name) {
			a.Docs = append(a.Docs, name)
		}
	}
	out.Delivery = d
	if out.IsNew {
		out.Docs = slices.Clone(a.Docs)
	}
	return out
}

// isOtherSkill reports whether a different skill was loaded under this name.
func (r *Record) isOtherSkill(skill, id string) bool {
	a := r.Find(skill)
	return a != nil && a.ID != "" && id != "" && a.ID != id
}

// Select sets the selected docs of a loaded skill, and delivers those texts that are not in
// view. shows reports whether the content of a delivery is in view. Select returns the docs that
// are selected then. In place of a section it selects the doc or a larger section, if the
// call names that too or its present text is in view.
func (r *Record) Select(call int, skill string, docs []string, all bool, texts []Doc, shows func(*Delivery) bool) []string {
	texts = withoutParts(texts)
	docs = withoutPartsOf(docs, texts)
	for _, section := range texts {
		if whole, _ := r.wholeInView(skill, &section, shows); whole != "" {
			docs = withWhole(docs, section.Name, whole)
		}
	}
	superseded := r.supersedeSections(skill, texts, shows)
	r.deselect(skill, docs, all)
	if r.Touch(skill); r.IsPermanent(skill) {
		r.Remember(skill) // no load of this turn does
	}
	d := Delivery{Call: call, Turn: r.Turn, Skill: skill, Digest: r.Find(skill).Digest, Seen: true, Supersedes: superseded}
	r.deliver(&d, texts, shows)
	return docs
}

// deliver adds to d the docs whose present text is not in view, and returns their names. If d
// then has content, deliver adds it to the deliveries.
func (r *Record) deliver(d *Delivery, docs []Doc, shows func(*Delivery) bool) (added []string) {
	for _, doc := range docs {
		whole, hasOlder := r.wholeInView(d.Skill, &doc, shows)
		if whole != "" {
			continue
		}
		d.Supersedes = d.Supersedes || hasOlder && !d.Body
		digest, listed := r.docDigest(d.Skill, doc.Name)
		seen := r.anyDelivery(d.Skill, func(x *Delivery) bool {
			return shows(x) && slices.ContainsFunc(x.Docs, func(other Doc) bool { return other.Name == doc.Name && !other.Old })
		})
		switch {
		case listed && seen && digest == doc.Digest:
			continue
		case listed && seen:
			r.supersedeDoc(d.Skill, doc.Name)
			d.Supersedes = true
		case listed:
			r.dropDoc(d.Skill, doc.Name) // the old text is not in view
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

// showsBody reports whether the newest body of skill that was delivered is in view.
func (r *Record) showsBody(skill string, shows func(*Delivery) bool) (seen bool) {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && d.Body && !d.Old {
			seen = shows(d)
		}
	}
	return seen
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

// LoadState holds which skills are loaded and which of their texts the view shows.
type LoadState struct {
	// Uses counts the loads and selections. It is a logical clock for [Active].Used.
	Uses int `json:"uses"`
	// Active are the loaded skills in load order.
	Active []Active `json:"active,omitempty"`
	// Deliveries are the contents that the view shows, in the order of call numbers.
	Deliveries []Delivery `json:"deliveries,omitempty"`
	// Archive lists more deliveries in a stored record, and archived are its entries.
	Archive  Archive `json:"shelf,omitzero"`
	archived []Delivery
	// Broke is the number of the first call whose text has left the request since the last one,
	// 0 if the texts of no ended load stand behind it.
	Broke int `json:"broke,omitempty"`
	// Recent are the recently loaded skills; see [Record.Remember].
	Recent []RecentLoad `json:"recent,omitempty"`
	// Compact are skills whose texts a short text will replace when the next turn begins.
	// ShortTexts are the short texts that have replaced bodies.
	Compact    []Compaction `json:"compact,omitempty"`
	ShortTexts []ShortText  `json:"shortened,omitempty"`
}

// Touch makes skill the most recently used one, if it is loaded.
func (r *Record) Touch(skill string) {
	if a := r.Find(skill); a != nil {
		r.Uses++
		a.Used = r.Uses
	}
}

// Activate marks skill as loaded with that digest of its body, and as the most recently used
// one. A skill that was not loaded becomes the last in load order.
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

// Deliver adds a delivery. Deliveries are in the order of their calls.
func (r *Record) Deliver(d Delivery) {
	i := len(r.Deliveries)
	for i > 0 && r.Deliveries[i-1].Call > d.Call {
		i--
	}
	r.Deliveries = slices.Insert(r.Deliveries, i, d)
}

// Body returns the digest of the newest body of skill that was delivered, or that stands in the
// prefix. ok is false if there is none.
func (r *Record) Body(skill string) (digest string, ok bool) {
	if p := r.preload(skill); p != nil {
		digest, ok = p.Digest, true
	}
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && d.Body && !d.Old {
			digest, ok = d.Digest, true
		}
	}
	return digest, ok
}

// Rendered returns the digest of the newest body of skill with its arguments, "" if it is shown as
// it is.
func (r *Record) Rendered(skill string) (digest string) {
	if p := r.preload(skill); p != nil {
		digest = p.Rendered
	}
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && d.Body && !d.Old {
			digest = d.Rendered
		}
	}
	return digest
}

// Arguments returns the arguments of the newest body of skill, if no call of the model has them.
func (r *Record) Arguments(skill string) (arguments string) {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && d.Body && !d.Old {
			arguments = d.Arguments
		}
	}
	return arguments
}

// Shown returns the digest of the text that is shown for the newest body of skill. ok is false if
// there is none.
func (r *Record) Shown(skill string) (digest string, ok bool) {
	digest, ok = r.Body(skill)
	return cmp.Or(r.Rendered(skill), digest), ok
}

// docDigest returns the digest of the newest text of a doc that was delivered. ok is
// false if there is none.
func (r *Record) docDigest(skill, doc string) (digest string, ok bool) {
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

// reuseEnded makes the content of an ended load part of a new load, if it is still in view. It
// removes content that is not in view, and returns the names of the reused docs. shows
// reports whether the content of a delivery is in view.
func (r *Record) reuseEnded(skill string, shows func(*Delivery) bool) (docs []string) {
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Skill == skill && d.Ended && !d.Old && !shows(&d)
	})
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Skill != skill || !d.Ended || d.Old {
			continue
		}
		d.Ended, d.Of = false, ""
		for _, doc := range d.Docs {
			if !doc.Old && !slices.Contains(docs, doc.Name) {
				docs = append(docs, doc.Name)
			}
		}
	}
	return docs
}

// RecentLoad is a skill and the last turn in which it was loaded.
type RecentLoad struct {
	Skill string `json:"skill"`
	Turn  int    `json:"turn"`
}

// Remember notes in Record.Recent that skill is loaded in the present turn. Recent keeps at
// most 16 skills, the latest last.
func (r *Record) Remember(skill string) {
	r.Recent = slices.DeleteFunc(r.Recent, func(l RecentLoad) bool { return l.Skill == skill || l.Turn < r.Turn-recentTurns })
	r.Recent = append(r.Recent, RecentLoad{skill, r.Turn})
	r.Recent = r.Recent[max(0, len(r.Recent)-maxRecent):]
}

// LoadedInTurn names the skills that were loaded in this turn, the latest last.
func (r *Record) LoadedInTurn() []string {
	var names []string
	for _, l := range r.Recent {
		if l.Turn == r.Turn {
			names = append(names, l.Skill)
		}
	}
	return names
}

// LoadedLately returns the skills that were loaded in this turn or the two before, the
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

// IsPreloaded reports whether skill is loaded for the whole conversation.
func (r *Record) IsPreloaded(skill string) bool { return r.preload(skill) != nil }

// preload returns the preloaded skill of that name, or nil. It points into the record.
func (r *Record) preload(skill string) *Preload {
	for i := range r.Preloads {
		if r.Preloads[i].Skill == skill {
			return &r.Preloads[i]
		}
	}
	return nil
}
