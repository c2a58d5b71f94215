package skilltools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

// guessed is the activation of a load that neither the user, the model nor the host has chosen.
// Until the model loads such a skill, its list applies only to its own commands.
const guessed = "guess"

// ErrNotInvocable reports a SKILL.md that was fetched for a load and does not allow it. The load is a
// guess of a hidden skill, or a mention of one that people cannot call.
var ErrNotInvocable = errors.New("the skill cannot be loaded in this way")

// Declaration is a set of loads without a call, whose texts are read.
type Declaration struct {
	change loading
}

// LoadError reports that loads without a call cannot be made. It wraps [tools.ErrLoads], which speaks
// of loads that the host has declared, and Reason, which fits other loads too.
type LoadError struct{ Reason error }

func (e *LoadError) Error() string { return tools.ErrLoads.Error() + ": " + e.Reason.Error() }

// Unwrap returns [tools.ErrLoads] and the reason.
func (e *LoadError) Unwrap() []error { return []error{tools.ErrLoads, e.Reason} }

// Declare reads the texts of loads without a call, all or none. The error is a [LoadError] if a
// skill or doc is unknown, or if there are more skills than the cap. Unlike the model, the host may
// load hidden skills. ErrNotInvocable is returned for a guess or a mention.
func Declare(ctx context.Context, s *Scope, loads []tools.Load) (*Declaration, error) {
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
	names := make([]string, len(loads))
	for i := range loads {
		names[i] = loads[i].Skill
	}
	if count := s.capped(rec, names); s.Max > 0 && count > s.Max {
		return nil, &LoadError{fmt.Errorf("%d skills are more than the cap of %d", count, s.Max)}
	}
	for _, l := range loads {
		skill, err := s.Catalog().Snapshot().Resolve(l.Skill)
		if err != nil {
			return nil, &LoadError{err}
		}
		if a := rec.FindID(skill.ID); a != nil {
			skill.Name = a.Skill
		}
		t, err := readSkillText(ctx, s, skill, l.Arguments, l.Docs, l.AllDocs)
		if err == nil && len(t.unreadable) > 0 {
			err = t.unreadable[0]
		}
		if err != nil {
			return nil, &LoadError{err}
		}
		if l.Guessed && t.skill.Hidden || l.Mentioned && !t.skill.UserInvocable {
			return nil, ErrNotInvocable
		}
		for _, doc := range l.Docs {
			if _, has := refOf(doc, t.known); !l.AllDocs && !has {
				return nil, &LoadError{fmt.Errorf("%w %q of %q", catalog.ErrUnknownDoc, doc, skill.Name)}
			}
			if missing, ok := t.noHeading[doc]; ok {
				return nil, &LoadError{fmt.Errorf("%w: %w", catalog.ErrUnknownDoc, missing)}
			}
		}
		d.change.texts = append(d.change.texts, t)
	}
	return d, nil
}

// DeclareTask is [Declare] for the skill that a fork carries out. Its body stays in view while the
// fork runs. external is nil for a skill of the catalog.
func DeclareTask(ctx context.Context, s *Scope, load tools.Load, external *ExternalSkill) (d *Declaration, err error) {
	if external != nil {
		d, err = declareExternal(ctx, s, *external)
	} else {
		d, err = Declare(ctx, s, []tools.Load{load})
	}
	if err != nil {
		return nil, err
	}
	d.change.isTask = true
	return d, nil
}

// Apply makes the loads with one new call number, at the user message of anchor. Texts that are
// already in view stay at their place. The error is a [LoadError] if the loads exceed the content
// budget.
func (d *Declaration) Apply(ctx context.Context, rec *state.Record, anchor state.Mark) (*state.Record, error) {
	rec = rec.Clone()
	rec.Calls++
	scope := *d.change.scope
	scope.State = withNumber{scope.State, rec.Calls}
	d.change.scope, d.change.anchor = &scope, &anchor
	next, err := d.change.apply(ctx, rec)
	if over, ok := errors.AsType[*overBudget](err); ok && d.change.isTask {
		return nil, &LoadError{fmt.Errorf("its task is too long for the content budget: about %d tokens of skills would be in view, at most %d may be", over.tokens, over.limit)}
	}
	if _, ok := errors.AsType[tools.ModelError](err); ok {
		return nil, &LoadError{err}
	}
	return next, err
}

// Missing returns a line about the needs of the skills that are not met, "" if all are.
func (d *Declaration) Missing() string {
	if !slices.ContainsFunc(d.change.texts, lacksSomething) {
		return ""
	}
	return d.change.missing()
}

// Events returns the events of the last Apply.
func (d *Declaration) Events() []core.Event { return d.change.events }
