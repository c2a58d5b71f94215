package skilltools

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

// guessed is the activation of loads that neither the user nor the model has asked for. Their
// lists bind only the commands of the skill itself until the model loads it.
const guessed = "guess"

// Declaration is a set of declared loads whose texts are read, ready to be
// applied.
type Declaration struct {
	change loading
}

// Declare reads the texts of declared loads, all or none: an unknown skill or
// doc, or more skills than the cap, is an error that wraps ErrDeclared. Unlike
// the model, the host may load a hidden skill.
func Declare(ctx context.Context, s *Scope, loads []tools.Declared) (*Declaration, error) {
	if s.Max > 0 && len(loads) > s.Max {
		return nil, fmt.Errorf("%w: %d skills are more than the cap of %d", tools.ErrDeclared, len(loads), s.Max)
	}
	d := &Declaration{change: loading{scope: s, activation: "declared"}}
	switch {
	case len(loads) > 0 && loads[0].Mentioned:
		d.change.activation = "mention"
	case len(loads) > 0 && loads[0].Guessed:
		d.change.activation = guessed
	}
	rec, err := s.Record(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range loads {
		skill, err := s.Catalog().Snapshot().Resolve(l.Skill)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", tools.ErrDeclared, err)
		}
		if a := rec.FindID(skill.ID); a != nil {
			skill.Name = a.Skill
		}
		t, err := readSkillText(ctx, s, skill, l.Docs, l.AllDocs)
		if err == nil && len(t.left) > 0 {
			err = t.left[0]
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", tools.ErrDeclared, err)
		}
		for _, doc := range l.Docs {
			if !l.AllDocs && len(known([]string{doc}, t.known)) == 0 {
				return nil, fmt.Errorf("%w: %w %q of %q", tools.ErrDeclared, catalog.ErrUnknownDoc, doc, l.Skill)
			}
		}
		d.change.texts = append(d.change.texts, t)
	}
	return d, nil
}

// Apply makes the loads under a call number of their own, at the user message of
// anchor. Skills that are already in view stay where they are. If the loads
// exceed the content budget, the error wraps ErrDeclared.
func (d *Declaration) Apply(ctx context.Context, rec *state.Record, anchor state.Mark) (*state.Record, error) {
	rec = rec.Clone()
	rec.Calls++
	scope := *d.change.scope
	scope.State = withNumber{scope.State, rec.Calls}
	d.change.scope, d.change.anchor = &scope, &anchor
	next, err := d.change.apply(ctx, rec)
	if told := tools.ModelError(""); errors.As(err, &told) {
		return nil, fmt.Errorf("%w: %w", tools.ErrDeclared, err)
	}
	return next, err
}

// Events returns the events of the last Apply.
func (d *Declaration) Events() []core.Event { return d.change.events }
