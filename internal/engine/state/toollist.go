package state

import "slices"

// GateState holds what limits and extends the calls that the agent may make.
type GateState struct {
	// Lists are the lists of allowed tools that apply, in load order.
	Lists []ToolList `json:"held,omitempty"`
	// Denials are the lists of disallowed tools of loaded skills, in load order.
	Denials []Denial `json:"denied,omitempty"`
	// Grants are the user's approvals for the session.
	Grants []Grant `json:"grants,omitempty"`
}

// ToolList is the allowed-tools list of a skill at the time of its load. It applies until the
// user turn ends, and then while the skill stays loaded. To unload or edit the skill within
// the turn does not lift it.
type ToolList struct {
	Skill string `json:"skill"`
	// Call is the number of the call that first loaded the skill with this list.
	Call int `json:"call,omitempty"`
	// Tools are the entries of the list. An empty list allows nothing.
	Tools []string `json:"tools"`
	// Repaired reports that the list comes from broken front matter that was repaired.
	Repaired bool `json:"repaired,omitempty"`
	// Old reports that the skill was loaded again later, with another list or without one.
	Old bool `json:"old,omitempty"`
	// Guessed reports that a search loaded the skill, and that the model has not used it yet. The
	// list then judges only the commands of the skill itself.
	Guessed bool `json:"guessed,omitempty"`
}

// Denial is the disallowed-tools list of a skill at the time of its load. It applies while the skill
// stays loaded.
type Denial struct {
	Skill string `json:"skill"`
	// Call is the number of the call that loaded the skill with this list.
	Call  int      `json:"call,omitempty"`
	Tools []string `json:"tools"`
	// Guessed is [ToolList.Guessed].
	Guessed bool `json:"guessed,omitempty"`
}

// Deny replaces the disallowed-tools list of a skill that call loads. tools is empty if the skill
// declares none. isGuess reports that a search loads the skill. Callers call it before
// [Record.Load].
func (r *Record) Deny(skill string, call int, tools []string, isGuess bool) {
	tools = limitTools(tools)
	i := slices.IndexFunc(r.Denials, func(d Denial) bool { return d.Skill == skill })
	isLoaded := i >= 0 && r.Find(skill) != nil
	if isLoaded && slices.Equal(r.Denials[i].Tools, tools) {
		r.Denials[i].Guessed = r.Denials[i].Guessed && isGuess
		return
	}
	if i >= 0 {
		r.Denials = slices.Delete(r.Denials, i, i+1)
	}
	if len(tools) > 0 {
		r.Denials = append(r.Denials, Denial{Skill: skill, Call: call, Tools: tools, Guessed: isGuess})
	}
	if len(r.Denials) == 0 {
		r.Denials = nil
	}
}

// KeepList adds the allowed-tools list of a skill that call loads. tools is nil if the skill
// declares no list. Callers call it before [Record.Load].
func (r *Record) KeepList(skill string, call int, tools []string, repaired bool) {
	r.keepList(skill, call, tools, repaired, false)
}

// GuessList is [Record.KeepList] for a skill that a search has loaded.
func (r *Record) GuessList(skill string, call int, tools []string, repaired bool) {
	r.keepList(skill, call, tools, repaired, true)
}

// HasGuess reports whether a search has loaded a skill with a list that the model has not used.
func (r *Record) HasGuess(skill string) bool {
	return slices.ContainsFunc(r.Lists, func(h ToolList) bool { return h.Guessed && h.Skill == skill }) ||
		slices.ContainsFunc(r.Denials, func(d Denial) bool { return d.Guessed && d.Skill == skill })
}

// UseGuess notes that the model has used a skill. From then on the lists of the skill judge all
// calls.
func (r *Record) UseGuess(skill string) {
	for i := range r.Lists {
		if r.Lists[i].Skill == skill {
			r.Lists[i].Guessed = false
		}
	}
	for i := range r.Denials {
		if r.Denials[i].Skill == skill {
			r.Denials[i].Guessed = false
		}
	}
}

func (r *Record) keepList(skill string, call int, tools []string, repaired, guessed bool) {
	tools = limitTools(tools)
	at := -1
	for i := range r.Lists {
		h := &r.Lists[i]
		if h.Skill != skill {
			continue
		}
		if h.Old = true; tools != nil && h.Repaired == repaired && slices.Equal(h.Tools, tools) {
			h.Old, h.Guessed, at = false, h.Guessed && guessed, i // the same list again
		}
	}
	switch {
	case tools == nil:
	case at < 0:
		r.Lists = append(r.Lists, ToolList{Skill: skill, Call: call, Tools: tools, Repaired: repaired, Guessed: guessed})
	case r.Find(skill) == nil: // loaded once more: it is the latest
		h := r.Lists[at]
		r.Lists = append(slices.Delete(r.Lists, at, at+1), h)
	}
}

func limitTools(tools []string) []string {
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

// EndLists removes the lists that applied only until the end of the last user turn. Callers
// call it when a turn begins.
func (r *Record) EndLists() {
	r.Lists = slices.DeleteFunc(r.Lists, func(h ToolList) bool { return h.Old || r.Find(h.Skill) == nil })
	if len(r.Lists) == 0 {
		r.Lists = nil
	}
	r.Denials = slices.DeleteFunc(r.Denials, func(d Denial) bool { return r.Find(d.Skill) == nil })
	if len(r.Denials) == 0 {
		r.Denials = nil
	}
}

// Grant is a user's approval for the session. It covers calls of Tool, or only one particular
// call if Use is set. It holds while every loaded skill was loaded with the same digest when
// the user approved.
type Grant struct {
	Tool   string            `json:"tool"`
	Use    string            `json:"use,omitempty"`
	Skills map[string]string `json:"skills,omitempty"` // digests by name
}

// Grant adds an approval. It drops the oldest one if there are too many.
func (r *Record) Grant(g Grant) {
	r.Grants = append(r.Grants, g)
	r.Grants = r.Grants[max(0, len(r.Grants)-maxGrants):]
}
