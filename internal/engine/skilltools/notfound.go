package skilltools

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// unknownSkillError is the error for a name that means no skill. It wraps a [tools.ModelError].
type unknownSkillError struct {
	error
	name string
	near []string // similar names
}

// Unwrap returns the error for the model.
func (e *unknownSkillError) Unwrap() error { return e.error }

// reportNotFound reports the unknown skill of an error. It does nothing for other errors.
func (s *Scope) reportNotFound(ctx context.Context, err error) {
	if unknown, ok := errors.AsType[*unknownSkillError](err); ok {
		s.Emit(ctx, core.Event{Kind: core.SkillNotFound, Detail: unknown.name, Skills: unknown.near})
	}
}

// unknownSkill returns the error that names no skill which the model may see. near are similar names.
func unknownSkill(name string, near []string) error {
	unknown := &unknownSkillError{name: printable.Cut(name, 80), near: near}
	if len(near) > 0 {
		unknown.error = tools.ModelErrorf("unknown skill %q: did you mean %s?", unknown.name, quotedList(near))
	} else {
		unknown.error = tools.ModelErrorf("unknown skill %q: use a name from the list of available skills", unknown.name)
	}
	return unknown
}

// lacking returns the error of a skill that unmet needs hide.
func lacking(name, missing string) error {
	return tools.ModelErrorf("skill %q is not loaded, because it cannot work; missing here: %s", printable.Cut(name, 80), missing)
}
