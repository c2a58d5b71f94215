package state

import (
	"cmp"
	"slices"
)

// PreloadState holds the skills whose bodies stand in the prefix of every request.
type PreloadState struct {
	// Preloads are these skills, in the order of their bodies.
	Preloads []Preload `json:"preloads,omitempty"`
	// Prefix is the digest of the overview with the bodies after it, "" without preloaded skills.
	Prefix string `json:"prefix,omitempty"`
}

// Preload is a skill whose body stands in the prefix. It is always loaded.
type Preload struct {
	Skill string `json:"skill"`
	ID    string `json:"id"`
	// Revision is the skill's revision, "" if its source keeps none.
	Revision string `json:"revision,omitempty"`
	// Digest is that of the body, and Rendered that of the body with empty arguments, "" if both
	// are the same.
	Digest   string `json:"digest"`
	Rendered string `json:"rendered,omitempty"`
	// Told is the digest of the changed body of which a note has told the model, "" for none.
	Told string `json:"told,omitempty"`
}

// SetPreloads replaces the preloaded skills. They are loaded from now on, before all others. Skills
// that were preloaded and are not any more are no longer loaded. The caller must call
// [Record.KeepList] for each new one first.
func (r *Record) SetPreloads(all []Preload) {
	for _, p := range slices.Clone(r.Preloads) {
		if !slices.ContainsFunc(all, func(q Preload) bool { return q.Skill == p.Skill }) {
			r.Withdraw(p.Skill)
		}
	}
	r.Preloads = all
	var loaded []Active
	for i := range all {
		a := all[i].active()
		if held := r.Find(a.Skill); held != nil {
			a.Call, a.Docs, a.All, a.Used, a.Loaded = held.Call, held.Docs, held.All, held.Used, held.Loaded
		}
		loaded = append(loaded, a)
	}
	for _, a := range r.Active {
		if !r.IsPreloaded(a.Skill) {
			loaded = append(loaded, a)
		}
	}
	r.Active = loaded
}

// Shown returns the digest of the text of a preloaded skill in the prefix.
func (p *Preload) Shown() string { return cmp.Or(p.Rendered, p.Digest) }

// active returns the load of a preloaded skill without docs.
func (p *Preload) active() Active {
	return Active{Skill: p.Skill, ID: p.ID, Revision: p.Revision, Digest: p.Digest}
}

// Withdraw removes a skill from the record, also if it is permanent. The caller then makes a new
// prefix.
func (r *Record) Withdraw(skill string) {
	r.Preloads = slices.DeleteFunc(r.Preloads, func(p Preload) bool { return p.Skill == skill })
	if task := r.task(skill); task != nil {
		task.IsTask = false
	}
	r.Unload(skill)
}
