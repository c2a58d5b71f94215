package satchel

import (
	"cmp"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/tools"
)

// WithTools sets which tools the model is offered. It may be given more than once if only
// one has more than Operations.
func WithTools(t Tools) Option {
	_, err := t.Profile.Names()
	own, isOwn := t.Vocabulary, false
	if own.Name == tools.RuntimeSpec {
		isOwn = len(own.Operations) > 0
		t.Vocabulary = skilltools.RuntimeSpec(own.Dotted, own.Locations)
	}
	wrong := cmp.Or(err,
		failsIf(isOwn, "Vocabulary: %q is one of Satchel's and takes no Operations", own.Name),
		failsIf(own.Name != "" && len(t.Vocabulary.Operations) == 0, "Vocabulary: %q is none of Satchel's and has no Operations", own.Name),
		failsIf(len(t.Vocabulary.Operations) > 0 && t.Vocabulary.Loads() == "", "Vocabulary: %q has no tool that loads skills", t.Vocabulary.Name),
		failsIf(min(t.Limits.Answer, t.Limits.InlineFile, t.Limits.InlineTotal) < 0, "Limits: %+v", t.Limits),
	)
	further := option("WithTools", wrong, func(s *settings) { s.choices.Further = append(s.choices.Further, t.Operations...) })
	if t.Profile == "" && t.Names == nil && len(t.Vocabulary.Operations) == 0 && t.Limits == (tools.Limits{}) {
		return further
	}
	return Options(further, single("WithTools", nil, func(s *settings) {
		s.choices.Profile, s.choices.Names, s.limits = cmp.Or(t.Profile, tools.Full), t.Names, t.Limits
		if len(t.Vocabulary.Operations) > 0 {
			s.choices.Vocabulary = &t.Vocabulary
		}
	}))
}

// WithRunner sets how skill_run, and skill_exec with its three companions, run commands. The
// first command makes what is nil, and the runtime closes it: the sandbox of executor/sandbox,
// workspaces in a directory for temporary files, and artifacts in memory. If commands cannot
// run, New logs at Warn what to change ([Runtime.Ready] returns it), and the model reads that
// it must do without. Commands run unconfined only with an executor of executor/local.
func WithRunner(r Runner) Option {
	return single("WithRunner", nil, func(s *settings) { s.choices.Runner = &r })
}
