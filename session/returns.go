package session

// Returns counts how often skills in a session were needed again. It is kept if
// the prices of a prompt cache decide when text leaves the view. Package loadmode
// maintains and reads it; it takes less than a kilobyte. The zero value knows
// nothing.
type Returns struct {
	// Skills are the skills that were loaded, the latest last.
	Skills []Return `json:"skills,omitempty"`
	// Rest is the sum over those that are no longer kept by name.
	Rest Return `json:"rest,omitzero"`
}

// Return says how often a skill was needed again.
type Return struct {
	Skill string `json:"skill,omitempty"`
	// Out counts the turns since the first load that began without the skill's
	// text, and those that loaded it again while it was in view. Back counts
	// those of them that loaded it.
	Out  int `json:"out,omitempty"`
	Back int `json:"back,omitempty"`
	// Other counts the turns that began with its text and loaded another skill
	// instead; Quiet counts those that called no tool.
	Other int `json:"other,omitempty"`
	Quiet int `json:"quiet,omitempty"`
}
