package eval

import (
	"fmt"

	"github.com/satchel-go/satchel/catalog"
)

// check refuses a suite that has nothing to ask in a mode, names a skill that the catalog does not
// have, or has two evals of the same name.
func (s *Suite) check(mode Mode, c *catalog.Catalog) error {
	switch {
	case mode == Outcome && len(s.Evals) == 0:
		return fmt.Errorf("%w: it has no evals, which mode %s plays", ErrSuite, mode)
	case mode != Outcome && len(s.Queries) == 0:
		return fmt.Errorf("%w: it has no queries, which mode %s asks", ErrSuite, mode)
	}
	snapshot := c.Snapshot()
	known := func(skill, from string) error {
		found, err := snapshot.Resolve(skill)
		if err == nil && found.Name != skill {
			err = fmt.Errorf("the catalog calls it %q", found.Name)
		}
		if err != nil {
			return fmt.Errorf("%w: %sthe skill %q: %w", ErrSuite, prefix(from), cut(skill), err)
		}
		return nil
	}
	for i := range s.Queries {
		if err := known(s.Queries[i].Skill, s.Queries[i].From); err != nil {
			return err
		}
	}
	ids := make(map[[2]string]string)
	for i := range s.Evals {
		e := &s.Evals[i]
		if err := known(e.Skill, e.From); err != nil {
			return err
		}
		id := [2]string{e.Skill, e.ID}
		if before, taken := ids[id]; taken {
			return fmt.Errorf("%w: %sid: %q is the id of %s too", ErrSuite, prefix(e.From), cut(e.ID), before)
		}
		ids[id] = e.From
	}
	return nil
}

// prefix returns the place of a request as the beginning of an error.
func prefix(from string) string {
	if from == "" {
		return ""
	}
	return from + ": "
}
