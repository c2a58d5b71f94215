package satchel

import (
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// WithPolicy sets what the allowed-tools of loaded skills mean. The default is
// permission.Restrict: while a loaded skill declares a list, the agent may call
// only what is listed. How the lists of several skills are taken together is the
// second value; the default is permission.Union.
func WithPolicy(p permission.Policy, combine ...permission.Combine) Option {
	return func(s *settings) error {
		if !p.Valid() || len(combine) > 1 {
			return fmt.Errorf("%w: WithPolicy: %v with %d ways to combine lists", ErrOption, p, len(combine))
		}
		s.judge.Policy = p
		if len(combine) == 1 {
			if s.judge.Combine = combine[0]; !combine[0].Valid() {
				return fmt.Errorf("%w: WithPolicy: %v", ErrOption, combine[0])
			}
		}
		return nil
	}
}

// WithToolNames says what tools of the host are to the lists of skills: which
// names these have for them, and what a pattern is compared with. Each replaces
// a built-in one of its name; package permission lists those.
func WithToolNames(tools ...permission.Tool) Option {
	return func(s *settings) error {
		for _, t := range tools {
			if t.Name == "" || t.Takes > permission.Inert {
				return fmt.Errorf("%w: WithToolNames: %+v", ErrOption, t)
			}
		}
		s.tooling = append(s.tooling, tools...)
		return nil
	}
}

// WithApprover asks for calls that no list grants or denies, those of Satchel's
// own tools that only show or load what skills hold left out. An answer for the
// session lasts while no skill is loaded but those of the question, each with
// the same content. Without an approver such calls are allowed.
func WithApprover(approve core.Approver) Option {
	return func(s *settings) error {
		if approve == nil {
			return fmt.Errorf("%w: WithApprover: nil", ErrOption)
		}
		s.approver = approve
		return nil
	}
}
