package eval

import (
	"context"
	"slices"
)

// runTrigger plays each query several times, and counts the trials in which the model loads skills.
func runTrigger(ctx context.Context, suite *Suite, o *Options) (*Report, error) {
	if o.Play == nil {
		return nil, errNoPlay
	}
	var played []*Query // a conversation about a skill that the model does not see would tell nothing
	for i := range suite.Queries {
		if q := &suite.Queries[i]; o.hidden[q.Skill] == "" {
			played = append(played, q)
		}
	}
	var trials []Trial
	for n := range o.runs() { // all queries once, then again: a run that is stopped has some of each
		for _, q := range played {
			trials = append(trials, Trial{Query: q, Number: n + 1})
		}
	}
	p, err := o.open(ctx, suite)
	if err != nil {
		return nil, err
	}
	defer p.state.close()
	p.play = func(ctx context.Context, t Trial) *result {
		_, r, end := o.conversation(ctx, t)
		if err := end(); r.err == nil {
			r.err = err
		}
		return r
	}
	results := p.playAll(ctx, trials)
	report := &Report{Mode: Trigger, Queries: []QueryResult{}, Skills: []SkillResult{}, Spent: spentOf(p.spent), Stopped: p.stopped}
	report.Trials = trialResults(trials, results, len(played))
	first := 0 // trial of the query
	for i := range suite.Queries {
		q := &suite.Queries[i]
		counted := &Trials{Loaded: map[string]int{}}
		if o.hidden[q.Skill] != "" {
			counted.Runs = o.runs()
		} else {
			for at := first; at < len(results); at += len(played) {
				counted.add(results[at], o.nameOf(q.Skill))
			}
			first++
		}
		counted.rate(q.ShouldTrigger, o.threshold())
		report.Queries = append(report.Queries, QueryResult{Skill: q.Skill, Query: q.Query, ShouldTrigger: q.ShouldTrigger, Hidden: o.hidden[q.Skill], Trials: counted})
	}
	for _, skill := range suite.Skills() {
		if t := triggering(report.Queries, skill); t != nil {
			if o.hidden[skill] != "" { // nothing was sampled
				t.Trigger.Low, t.Trigger.High, t.False.Low, t.False.High = nil, nil, nil, nil
			}
			report.Skills = append(report.Skills, SkillResult{Skill: skill, Hidden: o.hidden[skill], Triggering: t})
		}
	}
	return report, p.err
}

// add counts the trial of a query. r is nil for one that was not played.
func (t *Trials) add(r *result, skill string) {
	if r == nil {
		return
	}
	t.Runs++
	if r.err != nil {
		t.Errors++
		return
	}
	if slices.Contains(r.Loaded, skill) {
		t.Triggered++
	}
	for _, name := range r.Loaded {
		t.Loaded[name]++
	}
}

// rate sets the rate, and whether the query passes.
func (t *Trials) rate(should bool, threshold float64) {
	n := t.Runs - t.Errors
	if n == 0 {
		return
	}
	rate := float64(t.Triggered) / float64(n)
	t.Rate = &rate
	t.Pass = (rate >= threshold) == should
}

// triggering sums the queries of a skill, nil for none.
func triggering(queries []QueryResult, skill string) *Triggering {
	var t *Triggering
	errorsOfTrue := 0
	for _, q := range queries {
		if q.Skill != skill {
			continue
		}
		if t == nil {
			t = &Triggering{}
		}
		sum := &t.False
		if q.ShouldTrigger {
			sum = &t.Trigger
		}
		sum.Runs += q.Runs
		sum.Triggered += q.Triggered
		t.Errors += q.Errors
		if q.ShouldTrigger {
			errorsOfTrue += q.Errors
		}
	}
	if t != nil {
		t.Trigger.complete(errorsOfTrue)
		t.False.complete(t.Errors - errorsOfTrue)
	}
	return t
}

// complete sets the rate and its interval, over the trials without an error. There are none without
// such a trial.
func (i *Interval) complete(errors int) {
	n := i.Runs - errors
	if n == 0 {
		return
	}
	rate := float64(i.Triggered) / float64(n)
	low, high := wilson(i.Triggered, n)
	i.Rate, i.Low, i.High = &rate, &low, &high
}

// nameOf returns the name by which the model loads the skill of a suite.
func (o *Options) nameOf(skill string) string {
	if found, err := o.Catalog.Snapshot().Resolve(skill); err == nil {
		return found.Name
	}
	return skill
}
