package state

import "slices"

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
