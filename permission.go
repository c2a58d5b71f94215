package satchel

import (
	"cmp"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// WithPermissions sets what the allowed-tools lists of loaded skills mean. It may be given
// more than once if only one has more than HostTools and ToolSkills.
func WithPermissions(p Permissions) Option {
	wrong := cmp.Or(failsIf(!p.Policy.Valid(), "Policy: %v", p.Policy), failsIf(!p.Combine.Valid(), "Combine: %v", p.Combine))
	for _, t := range p.HostTools {
		wrong = cmp.Or(wrong, failsIf(t.Name == "" || t.Takes > permission.Text, "HostTools: %+v", t))
	}
	for tool, skills := range p.ToolSkills {
		wrong = cmp.Or(wrong, failsIf(tool == "" || len(skills) == 0, "ToolSkills: tool %q without a skill", tool))
	}
	further := option("WithPermissions", wrong, func(s *settings) {
		s.tooling = append(s.tooling, p.HostTools...)
		if s.activates == nil && p.ToolSkills != nil {
			s.activates = make(map[string][]string, len(p.ToolSkills))
		}
		for tool, skills := range p.ToolSkills {
			s.activates[tool] = append(s.activates[tool], skills...)
		}
	})
	if p.Policy == permission.Restrict && p.Combine == permission.Union {
		return further
	}
	return Options(further, single("WithPermissions", nil, func(s *settings) { s.judge.Policy, s.judge.Combine = p.Policy, p.Combine }))
}

// WithApprover lets a function decide on calls that no list grants or denies. It is not
// asked about Satchel's own tools that only show or load skills. An answer for the session
// holds while only the skills of the question are loaded, with the same content. Without an
// approver such calls are allowed.
func WithApprover(approve core.Approver) Option {
	return single("WithApprover", failsIf(approve == nil, "nil"), func(s *settings) { s.approver = approve })
}
