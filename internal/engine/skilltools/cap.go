package skilltools

import (
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

// checkCap returns a [tools.ModelError] if a call names more skills than can be loaded at once.
// Preloaded skills and the task of a fork do not count.
func checkCap(s *Scope, rec *state.Record, names []string) error {
	if count := s.capped(rec, names); s.Max > 0 && count > s.Max {
		return tools.ModelErrorf("%d skills in one call are more than the %d that can be loaded; load fewer", count, s.Max)
	}
	return nil
}

// capped returns how many of the named skills count against the cap. It resolves the names only if
// there may be too many, and no more than 100 names above it.
func (s *Scope) capped(rec *state.Record, names []string) int {
	count := len(names)
	if s.Max < 1 || count <= s.Max || count > s.Max+len(rec.Preloads)+maxResolved {
		return count
	}
	for _, name := range names {
		if skill, err := s.resolveVisible(rec, name, true); err == nil && rec.IsPermanent(skill.Name) {
			count--
		}
	}
	return count
}
