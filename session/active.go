package session

import "slices"

// Touch makes skill the most recently used one.
func (r *Record) Touch(skill string) {
	if a := r.Find(skill); a != nil {
		r.Uses++
		a.Used = r.Uses
	}
}

// Activate makes skill loaded at the digest of its body, last in load order
// unless it is loaded already, and touches it.
func (r *Record) Activate(skill, digest string) *Active {
	if r.Find(skill) == nil {
		r.Active = append(r.Active, Active{Skill: skill})
	}
	a := r.Find(skill)
	a.Digest = digest
	r.Touch(skill)
	a.Loaded = a.Used
	return a
}

// Unload removes skill and everything that was delivered of it, and reports
// whether it was loaded.
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

// Break drops what newer text has superseded. It is called where the prefix of
// the request breaks anyway, so that dropping costs nothing more.
func (r *Record) Break() {
	for i := range r.Deliveries {
		r.Deliveries[i].Docs = slices.DeleteFunc(r.Deliveries[i].Docs, func(d Doc) bool { return d.Old })
	}
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Old || !d.Body && len(d.Docs) == 0
	})
}

// DropBody removes the body of skill from the deliveries, for a body that is
// not in view and about to be delivered again. The docs stay at their calls.
func (r *Record) DropBody(skill string) {
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool { return d.Skill == skill && len(d.Docs) == 0 })
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill == skill {
			r.Deliveries[i].Body = false
		}
	}
}

// DropDoc is DropBody for a doc. What an older text of it shows stays too.
func (r *Record) DropDoc(skill, doc string) {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && !d.Old {
			d.Docs = slices.DeleteFunc(d.Docs, func(x Doc) bool { return x.Name == doc && !x.Old })
		}
	}
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Skill == skill && !d.Body && len(d.Docs) == 0
	})
}

// Deliver adds a delivery, in order of calls.
func (r *Record) Deliver(d Delivery) {
	i := len(r.Deliveries)
	for i > 0 && r.Deliveries[i-1].Call > d.Call {
		i--
	}
	r.Deliveries = slices.Insert(r.Deliveries, i, d)
}

// Body returns the digest of the newest body of skill among the deliveries.
func (r *Record) Body(skill string) (digest string, ok bool) {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill && d.Body && !d.Old {
			digest, ok = d.Digest, true
		}
	}
	return digest, ok
}

// DocIn returns the digest of the newest text of a doc among the deliveries.
func (r *Record) DocIn(skill, doc string) (digest string, ok bool) {
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

// Supersede marks everything delivered of skill as old.
func (r *Record) Supersede(skill string) {
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill == skill {
			r.Deliveries[i].Old = true
		}
	}
}

// SupersedeDoc marks one delivered doc of skill as old.
func (r *Record) SupersedeDoc(skill, doc string) {
	for i := range r.Deliveries {
		for j := range r.Deliveries[i].Docs {
			if r.Deliveries[i].Skill == skill && r.Deliveries[i].Docs[j].Name == doc {
				r.Deliveries[i].Docs[j].Old = true
			}
		}
	}
}

// Deselect sets the selection of skill to docs and removes from the deliveries
// whatever is no longer selected. It reports whether content went.
func (r *Record) Deselect(skill string, docs []string, all bool) bool {
	a := r.Find(skill)
	if a == nil {
		return false
	}
	a.Docs, a.All = docs, all
	gone := false
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill != skill {
			continue
		}
		r.Deliveries[i].Docs = slices.DeleteFunc(r.Deliveries[i].Docs, func(d Doc) bool {
			out := !slices.Contains(docs, d.Name)
			gone = gone || out
			return out
		})
	}
	if gone {
		r.Break()
	}
	return gone
}
