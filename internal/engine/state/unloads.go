package state

import "slices"

// Unload removes skill and all its deliveries, and reports whether it was loaded. A permanent skill
// stays loaded as at first, and Unload reports false.
func (r *Record) Unload(skill string) bool {
	if r.IsPermanent(skill) {
		*r.Find(skill) = r.firstLoad(skill)
		r.Remove(skill)
		return false
	}
	n := len(r.Active)
	r.Active = slices.DeleteFunc(r.Active, func(a Active) bool { return a.Skill == skill })
	if len(r.Active) == n {
		return false
	}
	r.Remove(skill)
	return true
}

// Remove takes everything that was delivered of skill out of the request, except a task.
func (r *Record) Remove(skill string) {
	r.noteBreak(func(d *Delivery) bool { return d.Skill == skill && !d.IsTask })
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool { return d.Skill == skill && !d.IsTask })
	r.Break()
}

// EndLoad makes skill no longer loaded. What was delivered of it stays as the text of an
// ended load.
func (r *Record) EndLoad(skill string) {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.Skill == skill {
			r.EndDelivery(d)
		}
	}
	r.Active = slices.DeleteFunc(r.Active, func(a Active) bool { return a.Skill == skill })
}

// noteBreak sets Broke if the texts of deliveries are about to leave the request, and texts of
// ended loads stand behind them.
func (r *Record) noteBreak(leaves func(*Delivery) bool) {
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if !leaves(d) {
			continue
		}
		isBehind := func(e Delivery) bool { return e.Ended && e.Call > d.Call && !leaves(&e) }
		if (r.Broke == 0 || d.Call < r.Broke) && slices.ContainsFunc(r.Deliveries, isBehind) {
			r.Broke = d.Call
		}
		return
	}
}

// Break removes superseded texts. Callers call it when the cached prefix of the request
// breaks anyway, because removing texts then costs nothing.
func (r *Record) Break() {
	for i := range r.Deliveries {
		r.Deliveries[i].Docs = slices.DeleteFunc(r.Deliveries[i].Docs, func(d Doc) bool { return d.Old })
	}
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Old || !d.Body && len(d.Docs) == 0
	})
}

// dropBody removes the body of skill from the deliveries before it is delivered again. Docs
// and a task stay.
func (r *Record) dropBody(skill string) {
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool { return d.Skill == skill && !d.IsTask && len(d.Docs) == 0 })
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill == skill && !r.Deliveries[i].IsTask {
			d := &r.Deliveries[i]
			d.Body, d.Rendered, d.Arguments, d.Listing = false, "", "", ""
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

// supersede marks everything delivered of skill as old, except a task.
func (r *Record) supersede(skill string) {
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill == skill && !r.Deliveries[i].IsTask {
			r.Deliveries[i].Old = true
		}
	}
}

// supersedeDoc marks one delivered doc of skill as old, and its sections.
func (r *Record) supersedeDoc(skill, doc string) {
	for i := range r.Deliveries {
		for j := range r.Deliveries[i].Docs {
			if r.Deliveries[i].Skill == skill && r.Deliveries[i].Docs[j].IsCoveredBy(doc) {
				r.Deliveries[i].Docs[j].Old = true
			}
		}
	}
}

// deselect sets the selected docs of a loaded skill, and removes deselected docs from the
// deliveries. If it has removed any, it also removes superseded texts.
func (r *Record) deselect(skill string, docs []string, all bool) {
	a := r.Find(skill)
	a.Docs, a.All = docs, all
	isDeselected := func(d Doc) bool { return !d.Old && !slices.Contains(docs, d.Name) }
	r.noteBreak(func(d *Delivery) bool { return d.Skill == skill && !d.Old && slices.ContainsFunc(d.Docs, isDeselected) })
	hasRemoved := false
	for i := range r.Deliveries {
		if r.Deliveries[i].Skill != skill || r.Deliveries[i].Old {
			continue
		}
		r.Deliveries[i].Docs = slices.DeleteFunc(r.Deliveries[i].Docs, func(d Doc) bool {
			deselected := isDeselected(d)
			hasRemoved = hasRemoved || deselected
			return deselected
		})
	}
	if hasRemoved {
		r.Break()
	}
}

// EndLoads ends all loads and removes all deliveries. Permanent skills stay loaded as at first.
func (r *Record) EndLoads() {
	var loaded []Active
	for i := range r.Active {
		if skill := r.Active[i].Skill; r.IsPermanent(skill) {
			loaded = append(loaded, r.firstLoad(skill))
		}
	}
	r.Active = loaded
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool { return !d.IsTask })
	if r.Break(); len(r.Deliveries) == 0 {
		r.Deliveries = nil
	}
}
