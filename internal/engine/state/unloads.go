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

// The agent of a fork has a task: the body of the skill that it carries out, at its first message. A
// skill is permanent if it is such a task, or if it is preloaded. No load mode, cap, budget or
// compaction ends its load, and no call unloads it.

// SetTask makes the newest body of skill that was delivered the task of the agent.
func (r *Record) SetTask(skill string) {
	for i := len(r.Deliveries) - 1; i >= 0; i-- {
		if d := &r.Deliveries[i]; d.Skill == skill && d.Body && !d.Old {
			d.IsTask = true
			return
		}
	}
}

// task returns the delivery of skill that is the task of the agent, or nil. It points into the
// record.
func (r *Record) task(skill string) *Delivery {
	for i := range r.Deliveries {
		if d := &r.Deliveries[i]; d.IsTask && d.Skill == skill {
			return d
		}
	}
	return nil
}

// HasTask reports whether the agent has a task.
func (r *Record) HasTask() bool {
	for i := range r.Deliveries {
		if r.Deliveries[i].IsTask {
			return true
		}
	}
	return false
}

// IsTask reports whether the body of skill is the task of the agent.
func (r *Record) IsTask(skill string) bool { return r.task(skill) != nil }

// IsPermanent reports whether skill stays loaded: it is preloaded, or the task of the agent.
func (r *Record) IsPermanent(skill string) bool { return r.IsPreloaded(skill) || r.IsTask(skill) }

// Capped returns how many loaded skills count against the cap: all but the permanent ones.
func (r *Record) Capped() (n int) {
	for i := range r.Active {
		if !r.IsPermanent(r.Active[i].Skill) {
			n++
		}
	}
	return n
}

// firstLoad returns a permanent skill as it was loaded at first: a preloaded one without docs, and a
// task with those docs of its first load that are in view.
func (r *Record) firstLoad(skill string) Active {
	if p := r.preload(skill); p != nil {
		return p.active()
	}
	a, task := *r.Find(skill), r.task(skill)
	a.Digest, a.Docs = task.Digest, nil
	for _, doc := range task.Docs {
		if !doc.Old {
			a.Docs = append(a.Docs, doc.Name)
		}
	}
	return a
}
