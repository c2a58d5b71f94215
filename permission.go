package satchel

import (
	"cmp"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// WithPermissions sets what the allowed-tools lists of loaded skills mean. The HostTools and
// ToolSkills of several options add up. Only one of them may set other fields.
func WithPermissions(p Permissions) Option {
	wrong := cmp.Or(errorIf(!p.Policy.Valid(), "Policy: %v: use a constant of package permission", p.Policy),
		errorIf(!p.Combine.Valid(), "Combine: %v: use a constant of package permission", p.Combine))
	for _, t := range p.HostTools {
		wrong = cmp.Or(wrong, errorIf(t.Name == "" || t.Takes > permission.Text, "HostTools: %+v: set a Name, and a Kind of package permission for Takes", t))
	}
	for tool, skills := range p.ToolSkills {
		wrong = cmp.Or(wrong, errorIf(tool == "" || len(skills) == 0, "ToolSkills: %q: %v: set a tool and at least one skill", tool, skills))
	}
	additions := option("WithPermissions", wrong, func(s *config) {
		s.hostTools = append(s.hostTools, p.HostTools...)
		if s.toolSkills == nil && p.ToolSkills != nil {
			s.toolSkills = make(map[string][]string, len(p.ToolSkills))
		}
		for tool, skills := range p.ToolSkills {
			s.toolSkills[tool] = append(s.toolSkills[tool], skills...)
		}
	})
	if p.Policy == permission.Restrict && p.Combine == permission.Union {
		return additions
	}
	return Options(additions, single("WithPermissions", nil, func(s *config) { s.judge.Policy, s.judge.Combine = p.Policy, p.Combine }))
}

// WithApprover sets a function that decides on calls that no list grants or denies. Calls of
// Satchel's own tools that only show or load skills need no such decision. An answer for the
// session holds while only the skills of the question are loaded, with the same content.
// Without an approver such calls are allowed.
func WithApprover(approve core.Approver) Option {
	return single("WithApprover", errorIf(approve == nil, "the value is nil"), func(s *config) { s.approver = approve })
}
