package satchel

import (
	"cmp"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/tools"
)

// WithTools sets which tools the model is offered. The Operations of several options add up.
// Only one of them may set other fields.
func WithTools(t Tools) Option {
	wrong := t.resolve()
	operations := option("WithTools", wrong, func(s *config) { s.choices.Extra = append(s.choices.Extra, t.Operations...) })
	if t.Profile == "" && t.Names == nil && len(t.Vocabulary.Operations) == 0 && t.Limits == (tools.Limits{}) {
		return operations
	}
	return Options(operations, single("WithTools", nil, func(s *config) {
		s.choices.Profile, s.choices.Names, s.limits = cmp.Or(t.Profile, tools.Full), t.Names, t.Limits
		if len(t.Vocabulary.Operations) > 0 {
			s.choices.Vocabulary = &t.Vocabulary
		}
	}))
}

// resolve completes a vocabulary that is one of Satchel's, and returns an error if the
// values cannot work.
func (t *Tools) resolve() error {
	if _, err := t.Profile.Names(); err != nil {
		return err
	}
	v := &t.Vocabulary
	isSatchels := v.Name == tools.RuntimeSpec
	hasRules := v.Guidance != "" || v.Unlisted || v.InSystem || v.ForSession || v.Evicts
	if err := cmp.Or(
		errorIf(isSatchels && (hasRules || len(v.Operations) > 0), "Vocabulary: %q is one of Satchel's: beside Name only Dotted and Locations may be set", v.Name),
		errorIf(!isSatchels && (v.Dotted || v.Locations), "Vocabulary: Dotted and Locations are fields of the vocabulary %q alone: set that Name", tools.RuntimeSpec),
		errorIf(hasRules && v.Name == "" && len(v.Operations) == 0, "Vocabulary: it has rules and no Operations"),
	); err != nil {
		return err
	}
	if isSatchels {
		*v = skilltools.RuntimeSpec(v.Dotted, v.Locations)
	}
	return cmp.Or(
		errorIf(v.Name != "" && len(v.Operations) == 0, "Vocabulary: %q is none of Satchel's and has no Operations", v.Name),
		errorIf(len(v.Operations) > 0 && v.Loads() == "", "Vocabulary: %q has no tool that loads skills", v.Name),
		errorIf(min(t.Limits.Answer, t.Limits.InlineFile, t.Limits.InlineTotal) < 0, "Limits: %+v: use 0 for the default, or more", t.Limits),
	)
}

// WithRunner sets how skill_run, and skill_exec with the tools that belong to it, run commands.
// The first command opens a default for each nil field, and the runtime closes it: the sandbox
// of executor/sandbox, workspaces in a temporary directory, and artifacts in memory. If
// commands cannot run, New logs a warning that says what to change ([Runtime.Ready] returns
// it), and the tools tell the model that it must do without. Commands run unconfined only with
// an executor of executor/local.
func WithRunner(r Runner) Option {
	return single("WithRunner", nil, func(s *config) {
		own := r // New completes it
		s.choices.Runner = &own
	})
}
