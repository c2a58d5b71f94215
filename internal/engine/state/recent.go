package state

import "slices"

// Bounds of what a record remembers of earlier loads: their names, and for how many
// turns after the one in which they were made.
const (
	maxRecent   = 16
	recentTurns = 2
)

// RecentLoad is a skill that was loaded, and the turn in which that happened last.
type RecentLoad struct {
	Skill string `json:"skill"`
	Turn  int    `json:"turn"`
}

// Remember notes that skill is loaded in the present turn. Record.Recent keeps 16
// names of those that [Record.LoadedLately] returns, the latest last.
func (r *Record) Remember(skill string) {
	r.Recent = slices.DeleteFunc(r.Recent, func(l RecentLoad) bool { return l.Skill == skill || l.Turn < r.Turn-recentTurns })
	r.Recent = append(r.Recent, RecentLoad{skill, r.Turn})
	r.Recent = r.Recent[max(0, len(r.Recent)-maxRecent):]
}

// LoadedLately names the skills that were loaded in this turn or the two before, the
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
