package state

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
