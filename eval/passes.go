package eval

import "fmt"

// passes reports whether the result of a query is what its author wants. Offline, the skill is the
// first that a search finds, or is not suggested if it should not trigger.
func (q *QueryResult) passes() bool {
	switch {
	case q.Found != nil && q.ShouldTrigger:
		return q.Rank == 1
	case q.Found != nil:
		return !q.Suggested
	}
	return q.Trials != nil && q.Pass
}

// Failing returns the queries that do not pass, in the order of the report. In mode Offline a query
// passes if its skill is the first that a search finds. One that should not trigger passes if the
// skill is not suggested.
func (r *Report) Failing() (failing []QueryResult) {
	for i := range r.Queries {
		if !r.Queries[i].passes() {
			failing = append(failing, r.Queries[i])
		}
	}
	return failing
}

// Below returns a sentence for each skill that stays below a minimum; nil is no minimum. trigger is
// the least rate at which the skill loads for queries that should trigger it. In mode Offline this
// rate is Recall1. pass is the least share of the queries that pass or, in mode Outcome, the least
// mean of the pass rates of its evals with the skill. A skill without a rate stays below no minimum.
func (r *Report) Below(trigger, pass *float64) (below []string) {
	check := func(skill, what string, rate, least *float64) {
		if rate != nil && least != nil && *rate < *least {
			below = append(below, fmt.Sprintf("%s: %s is %.3g, less than %.3g", skill, what, *rate, *least))
		}
	}
	for i := range r.Skills {
		s := &r.Skills[i]
		if s.Recall != nil {
			check(s.Skill, "recall at 1", s.Recall1, trigger)
		}
		if s.Triggering != nil {
			check(s.Skill, "the rate of triggering", s.Trigger.Rate, trigger)
		}
		check(s.Skill, "the share of queries that pass", r.passing(s.Skill), pass)
	}
	for _, skill := range r.evaluated() {
		check(skill, "the mean pass rate", r.passRate(skill), pass)
	}
	return below
}

// passing returns the share of a skill's queries that pass. Queries that no trial answered do not
// count.
func (r *Report) passing(skill string) *float64 {
	n, all := 0, 0
	for i := range r.Queries {
		q := &r.Queries[i]
		if q.Skill != skill || q.Trials != nil && q.Rate == nil {
			continue
		}
		all++
		if q.passes() {
			n++
		}
	}
	return share(n, all)
}

// evaluated returns the skills of the evals, each once, in the order of the report.
func (r *Report) evaluated() []string {
	suite := new(Suite)
	for i := range r.Evals {
		suite.Evals = append(suite.Evals, Eval{Skill: r.Evals[i].Skill})
	}
	return suite.Skills()
}

// passRate returns the mean pass rate of a skill's evals with the skill, nil if none has one.
func (r *Report) passRate(skill string) *float64 {
	sum, n := 0.0, 0
	for i := range r.Evals {
		if e := &r.Evals[i]; e.Skill == skill && e.With.PassRate != nil {
			sum += *e.With.PassRate
			n++
		}
	}
	if n == 0 {
		return nil
	}
	mean := sum / float64(n)
	return &mean
}
