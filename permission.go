package satchel

import (
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// WithPolicy sets what the allowed-tools of loaded skills mean. The default is
// permission.Restrict: while a loaded skill declares a list, calls of the tools
// that lists speak of are denied unless they are listed, and the host's other
// tools go on.
func WithPolicy(p permission.Policy) Option {
	return checked(p.Valid(), func(s *settings) { s.judge.Policy = p }, "WithPolicy: %v", p)
}

// WithCombine sets how the lists of several loaded skills are taken together. The
// default is permission.Union: what one of them allows is allowed.
func WithCombine(c permission.Combine) Option {
	return checked(c.Valid(), func(s *settings) { s.judge.Combine = c }, "WithCombine: %v", c)
}

// WithHostTools says how lists of skills speak of the host's tools: which names stand
// for a tool, and what a pattern is compared with. A tool replaces the built-in one
// of the same name; package permission lists those.
func WithHostTools(tools ...permission.Tool) Option {
	return func(s *settings) error {
		for _, t := range tools {
			if t.Name == "" || t.Takes > permission.Inert {
				return fmt.Errorf("%w: WithHostTools: %+v", ErrOption, t)
			}
		}
		s.tooling = append(s.tooling, tools...)
		return nil
	}
}

// WithApprover lets a function decide on calls that no list grants or denies. It is
// not asked about Satchel's own tools that only show or load skills. An answer for the
// session holds as long as only the skills of the question are loaded, with the same
// content. Without an approver such calls are allowed.
func WithApprover(approve core.Approver) Option {
	return checked(approve != nil, func(s *settings) { s.approver = approve }, "WithApprover: nil")
}

// WithFreeAgents names agents that are bounded by their own lists only, and not by
// those of an agent that calls them. The option counts in the runtime of the caller
// and in that of the agent that is called.
func WithFreeAgents(names ...string) Option {
	return checked(!slices.Contains(names, ""), func(s *settings) { s.free = append(s.free, names...) }, "WithFreeAgents: an empty name")
}
