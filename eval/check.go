package eval

import (
	"cmp"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
)

// check returns the suite with each query of a skill once. It refuses a suite that has nothing to ask
// in a mode, names a skill that the catalog does not have, or has two evals of the same name. The
// same query of a skill must not trigger in one place and not trigger in another.
func (s *Suite) check(mode Mode, c *catalog.Catalog) (*Suite, error) {
	switch {
	case mode == Outcome && len(s.Evals) == 0:
		return nil, fmt.Errorf("%w: it has no evals, which mode %s plays; modes offline and trigger ask its queries", ErrSuite, mode)
	case mode != Outcome && len(s.Evals) > 0 && len(s.Queries) == 0:
		return nil, fmt.Errorf("%w: it has no queries, which mode %s asks; mode outcome plays its evals", ErrSuite, mode)
	case mode != Outcome && len(s.Queries) == 0:
		return nil, fmt.Errorf("%w: it has no queries, which mode %s asks", ErrSuite, mode)
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
	once := &Suite{Evals: s.Evals}
	asked := make(map[[2]string]*Query)
	for i := range s.Queries {
		q := &s.Queries[i]
		if err := known(q.Skill, q.From); err != nil {
			return nil, err
		}
		before := asked[[2]string{q.Skill, q.Query}]
		switch {
		case before == nil:
			asked[[2]string{q.Skill, q.Query}] = q
			once.Queries = append(once.Queries, *q)
		case before.ShouldTrigger != q.ShouldTrigger:
			return nil, fmt.Errorf("%w: %sshould_trigger: is %t for %q: it is %t in %s", ErrSuite, prefix(q.From), q.ShouldTrigger, cut(q.Query), before.ShouldTrigger, cmp.Or(before.From, "another query"))
		}
	}
	ids := make(map[[2]string]string)
	for i := range s.Evals {
		e := &s.Evals[i]
		if err := known(e.Skill, e.From); err != nil {
			return nil, err
		}
		id := [2]string{e.Skill, e.ID}
		if before, taken := ids[id]; taken {
			return nil, fmt.Errorf("%w: %sid: %q is the id of %s too", ErrSuite, prefix(e.From), cut(e.ID), before)
		}
		ids[id] = e.From
	}
	return once, nil
}

// prefix returns the place of a request as the beginning of an error.
func prefix(from string) string {
	if from == "" {
		return ""
	}
	return from + ": "
}
