package eval

import (
	"context"
	"errors"
)

// Trial is one conversation that Options.Play plays.
type Trial struct {
	// Query is what is asked in mode Trigger, and Eval in mode Outcome; the other is nil.
	Query *Query
	Eval  *Eval
	// Number counts the trials of the same query or eval, from 1.
	Number int
	// Without reports that the conversation has no access to the skill.
	Without bool
}

// Played is what came of a trial.
type Played struct {
	// Loaded are the names of the skills that the model has loaded in the first turn.
	Loaded []string
}

func runTrigger(context.Context, *Suite, *Options) (*Report, error) {
	return nil, errors.New("eval: mode trigger is not implemented")
}

func runOutcome(context.Context, *Suite, *Options) (*Report, error) {
	return nil, errors.New("eval: mode outcome is not implemented")
}
