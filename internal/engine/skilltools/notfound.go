package skilltools

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/core"
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
