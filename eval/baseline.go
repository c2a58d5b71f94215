package eval

import "fmt"

// Compare sets Changes to the queries and evals whose results differ from those of an earlier report
// of the same mode. Requests that only one of the reports has are left out.
//
// For a query, mode Offline compares the rank, or whether the skill is suggested if it should not
// trigger: 1 for yes. Mode Trigger compares the rate, and mode Outcome the pass rate with the skill.
func (r *Report) Compare(before *Report) error {
	if before.Mode != r.Mode {
		return fmt.Errorf("the baseline is of mode %q: want %q", before.Mode, r.Mode)
	}
	r.Changes = []Change{}
	type query struct {
		skill, text string
		should      bool
	}
	queries := make(map[query]*QueryResult)
	for i := range before.Queries {
		q := &before.Queries[i]
		queries[query{q.Skill, q.Query, q.ShouldTrigger}] = q
	}
	for i := range r.Queries {
		q := &r.Queries[i]
		old := queries[query{q.Skill, q.Query, q.ShouldTrigger}]
		if old == nil {
			continue
		}
		change := Change{Skill: q.Skill, Query: q.Query}
		if change.set(old.measure(), q.measure()) {
			r.Changes = append(r.Changes, change)
		}
	}
	evals := make(map[[2]string]*Comparison)
	for i := range before.Evals {
		e := &before.Evals[i]
		evals[[2]string{e.Skill, e.ID}] = e
	}
	for i := range r.Evals {
		e := &r.Evals[i]
		old := evals[[2]string{e.Skill, e.ID}]
		if old == nil {
			continue
		}
		change := Change{Skill: e.Skill, ID: e.ID, hasNumber: e.hasNumber}
		if change.set(old.measure(), e.measure()) {
			r.Changes = append(r.Changes, change)
		}
	}
	return nil
}

// measured is a result as a number to show and a worth to compare, which is higher if better.
type measured struct{ shown, worth float64 }

// measure returns what a change of a query compares, nil if the query has no result.
func (q *QueryResult) measure() *measured {
	switch {
	case q.Found != nil && q.ShouldTrigger:
		if q.Rank == 0 {
			return &measured{0, 0}
		}
		return &measured{float64(q.Rank), 1 / float64(q.Rank)}
	case q.Found != nil:
		if q.Suggested {
			return &measured{1, -1}
		}
		return &measured{0, 0}
	case q.Trials == nil || q.Rate == nil:
		return nil
	case q.ShouldTrigger:
		return &measured{*q.Rate, *q.Rate}
	}
	return &measured{*q.Rate, -*q.Rate}
}

func (e *Comparison) measure() *measured {
	if e.With.PassRate == nil {
		return nil
	}
	return &measured{*e.With.PassRate, *e.With.PassRate}
}

// set sets what was and what is, and reports whether they differ.
func (c *Change) set(was, is *measured) bool {
	if was == nil || is == nil || was.worth == is.worth {
		return false
	}
	c.Was, c.Is, c.Change = was.shown, is.shown, "worse"
	if is.worth > was.worth {
		c.Change = "better"
	}
	return true
}
