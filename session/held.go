package session

import "slices"

// Bounds of what is kept of one list; what is beyond them is left out, which
// allows less.
const (
	maxHeldEntries = 512
	maxHeldBytes   = 16 << 10
	maxGrants      = 256
)

// Held is the allowed-tools of a skill as it was loaded. It holds from the load
// until the user turn ends, and then for as long as the skill stays loaded: to
// unload or to edit a skill does not take it off.
type Held struct {
	Skill string `json:"skill"`
	// Call is the number of the first call that loaded the skill with this list.
	Call int `json:"call,omitempty"`
	// Tools are the entries of the list; an empty list allows nothing.
	Tools []string `json:"tools"`
	// Repaired reports that the list was guessed from broken front matter.
	Repaired bool `json:"repaired,omitempty"`
	// Old reports that the skill was loaded again since with another list, or
	// without one.
	Old bool `json:"old,omitempty"`
}

// Hold notes the list of a skill that call loads: nil is none declared. It goes
// before [Record.Activate].
func (r *Record) Hold(skill string, call int, tools []string, repaired bool) {
	tools = bounded(tools)
	at := -1
	for i := range r.Held {
		h := &r.Held[i]
		if h.Skill != skill {
			continue
		}
		if h.Old = true; tools != nil && h.Repaired == repaired && slices.Equal(h.Tools, tools) {
			h.Old, at = false, i
		}
	}
	switch {
	case tools == nil:
	case at < 0:
		r.Held = append(r.Held, Held{Skill: skill, Call: call, Tools: tools, Repaired: repaired})
	case r.Find(skill) == nil: // loaded once more: it is the latest
		h := r.Held[at]
		r.Held = append(slices.Delete(r.Held, at, at+1), h)
	}
}

func bounded(tools []string) []string {
	if tools == nil {
		return nil
	}
	kept, size := []string{}, 0
	for _, t := range tools[:min(len(tools), maxHeldEntries)] {
		if size += len(t); size > maxHeldBytes {
			break
		}
		kept = append(kept, t)
	}
	return kept
}

// Release ends, where a user turn begins, what held only for the last one.
func (r *Record) Release() {
	r.Held = slices.DeleteFunc(r.Held, func(h Held) bool { return h.Old || r.Find(h.Skill) == nil })
	if len(r.Held) == 0 {
		r.Held = nil
	}
}

// Grant is an approval that was given for the session. It is for calls of Tool,
// and only for one of them if Use is not empty, while no skill is loaded but
// those that were when it was given, each as it was then.
type Grant struct {
	Tool   string            `json:"tool"`
	Use    string            `json:"use,omitempty"`
	Skills map[string]string `json:"skills,omitempty"` // digest by name
}

// Granted reports whether a grant is for a call while these skills are loaded.
func (r *Record) Granted(tool, use string, skills map[string]string) bool {
	return slices.ContainsFunc(r.Grants, func(g Grant) bool {
		if g.Tool != tool || g.Use != use {
			return false
		}
		for name, digest := range skills {
			if g.Skills[name] != digest {
				return false
			}
		}
		return true
	})
}

// Grant adds an approval; of too many the oldest goes.
func (r *Record) Grant(g Grant) {
	r.Grants = append(r.Grants, g)
	r.Grants = r.Grants[max(0, len(r.Grants)-maxGrants):]
}
