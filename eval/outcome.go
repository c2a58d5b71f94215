package eval

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
)

// runOutcome plays each eval with and without its skill, and checks what came of it.
func runOutcome(ctx context.Context, suite *Suite, o *Options) (*Report, error) {
	if o.Play == nil {
		return nil, errNoPlay
	}
	tasks := make([]*task, len(suite.Evals))
	for i := range suite.Evals {
		t, err := o.task(ctx, &suite.Evals[i])
		if err != nil {
			return nil, err
		}
		tasks[i] = t
	}
	var trials []Trial
	for n := range o.runs() {
		for i := range suite.Evals {
			e := &suite.Evals[i]
			trials = append(trials, Trial{Eval: e, Number: n + 1, Loaded: o.hidden[e.Skill] != ""}, Trial{Eval: e, Number: n + 1, Without: true})
		}
	}
	p, err := o.open(ctx, suite)
	if err != nil {
		return nil, err
	}
	defer p.state.close()
	byEval := map[*Eval]*task{}
	for _, t := range tasks {
		byEval[t.eval] = t
	}
	p.play = func(ctx context.Context, t Trial) *result { return byEval[t.Eval].play(ctx, t) }
	results := p.playAll(ctx, trials)
	report := &Report{Mode: Outcome, Evals: []Comparison{}, Spent: spentOf(p.spent), Stopped: p.stopped}
	report.Trials = trialResults(trials, results, 2*len(tasks))
	for i, t := range tasks {
		var with, without []*result
		for at := 2 * i; at < len(results); at += 2 * len(tasks) {
			with, without = append(with, results[at]), append(without, results[at+1])
		}
		e := Comparison{Skill: t.eval.Skill, ID: t.eval.ID, hasNumber: t.eval.hasNumber, Hidden: o.hidden[t.eval.Skill], With: t.side(with), Without: t.side(without)}
		e.Difference = difference(&e.With, &e.Without)
		report.Evals = append(report.Evals, e)
	}
	return report, p.err
}

// task is an eval with its checks.
type task struct {
	options  *Options
	eval     *Eval
	checks   []check // by the assertions, nil for a sentence
	skillDir string  // "" for a skill that is in no directory
}

// task checks that an eval can be played: its assertions, and its files.
func (o *Options) task(ctx context.Context, e *Eval) (*task, error) {
	t := &task{options: o, eval: e, checks: make([]check, len(e.Assertions))}
	for i, assertion := range e.Assertions {
		c, err := parseAssertion(assertion)
		if err != nil {
			return nil, fmt.Errorf("%w: %s.assertions[%d]: %w", ErrSuite, e.From, i, err)
		}
		t.checks[i] = c
	}
	skill, err := o.Catalog.Snapshot().Resolve(e.Skill)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSuite, e.From, err)
	}
	t.skillDir = skill.RootDir
	for i, c := range t.checks {
		if err := t.script(ctx, scriptOf(c)); err != nil {
			return nil, fmt.Errorf("%w: %s.assertions[%d]: %w", ErrSuite, e.From, i, err)
		}
	}
	for i, file := range e.Files {
		if _, err := t.input(ctx, file, 0); err != nil {
			return nil, fmt.Errorf("%w: %s.files[%d]: %w", ErrSuite, e.From, i, err)
		}
	}
	return t, nil
}

// script checks that the skill has a script; "" is none.
func (t *task) script(ctx context.Context, file string) error {
	if file == "" {
		return nil
	}
	f, err := t.options.Catalog.OpenFile(ctx, t.eval.Skill, file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", file)
	}
	return err
}

// input reads at most limit bytes of a file of the skill's folder.
func (t *task) input(ctx context.Context, file string, limit int64) ([]byte, error) {
	f, err := t.options.Catalog.OpenFile(ctx, t.eval.Skill, path.Clean(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxInput {
		return nil, cmp.Or(err, fmt.Errorf("%s has more than %d MiB", file, maxInput>>20))
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// play plays a trial and decides its assertions.
func (t *task) play(ctx context.Context, trial Trial) *result {
	for _, file := range t.eval.Files {
		data, err := t.input(ctx, file, maxInput)
		if err != nil {
			return &result{err: err}
		}
		trial.Inputs = append(trial.Inputs, Input{path.Base(file), data})
	}
	played, r, end := t.options.conversation(ctx, trial)
	if r.err == nil {
		r.err = t.decide(ctx, trial, played, r)
	}
	if err := end(); r.err == nil {
		r.err = err
	}
	return r
}

// decide adds the verdicts on the assertions to the result of a trial.
func (t *task) decide(ctx context.Context, trial Trial, played Played, r *result) error {
	left := subject{
		Dir: played.Workspace, Answer: played.Answer, ExitCode: played.ExitCode, SkillDir: t.skillDir, Executor: t.options.Executor,
	}
	j := &judging{options: t.options, trial: trial, played: played}
	for i, c := range t.checks {
		var v verdict
		var err error
		if c == nil {
			v = j.judge(ctx, i)
			r.lacksJudge = r.lacksJudge || v.isError
		} else {
			var found finding
			found, err = c.Run(ctx, left)
			v = verdict{Passed: &found.Passed, Evidence: found.Evidence}
		}
		if err != nil {
			return fmt.Errorf("assertion %q: %w", t.eval.Assertions[i], err)
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	r.Judge = j.spent
	return nil
}

// side sums the trials with the skill, or those without it.
func (t *task) side(results []*result) Side {
	s := Side{Assertions: make([]AssertionResult, len(t.checks))}
	decided, passed := 0, 0
	for i, c := range t.checks {
		s.Assertions[i] = AssertionResult{Assertion: t.eval.Assertions[i], Kind: "check"}
		if c == nil {
			s.Assertions[i].Kind = "judge"
		}
	}
	for _, r := range results {
		if r == nil {
			continue
		}
		if r.err != nil {
			s.Errors++
			continue
		}
		s.Trials++
		s.Tokens += float64(r.Prompt + r.Completion)
		s.MS += r.MS
		s.Cost += costOf(r.usage, t.options.prices())
		for i := range s.Assertions {
			if i < len(r.Verdicts) && s.Assertions[i].add(r.Verdicts[i]) {
				decided++
				if *r.Verdicts[i].Passed {
					passed++
				}
			}
		}
	}
	if played := float64(s.Trials); played > 0 {
		s.Tokens, s.MS, s.Cost = s.Tokens/played, s.MS/played, s.Cost/played
	}
	if decided > 0 {
		rate := float64(passed) / float64(decided)
		s.PassRate = &rate
	}
	return s
}

// add counts a verdict and reports whether it is one. The evidence is that of the first trial in
// which the assertion does not hold, or of the first.
func (a *AssertionResult) add(v verdict) bool {
	if v.isError {
		a.Errors++
	}
	if v.Passed == nil {
		if a.Passed == nil && a.Evidence == "" {
			a.Evidence = v.Evidence
		}
		return false
	}
	a.Decided++
	isFirst := a.Passed == nil
	if isFirst {
		a.Passed, a.failed = new(int), false
	}
	if isFirst || !*v.Passed && !a.failed {
		a.Evidence = v.Evidence
	}
	if *v.Passed {
		*a.Passed++
	} else {
		a.failed = true
	}
	return true
}

// difference returns what the skill changes.
func difference(with, without *Side) (d Difference) {
	if with.Trials == 0 || without.Trials == 0 {
		return d
	}
	tokens, ms, cost := with.Tokens-without.Tokens, with.MS-without.MS, with.Cost-without.Cost
	d.Tokens, d.MS, d.Cost = &tokens, &ms, &cost
	if with.PassRate != nil && without.PassRate != nil {
		rate := *with.PassRate - *without.PassRate
		d.PassRate = &rate
	}
	return d
}
