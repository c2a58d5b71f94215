package satchel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Each option that takes the name of something is an error of New if that does not exist, and
// the error names it.
func TestNamesThatDoNotExistAreErrors(t *testing.T) {
	skills := satchel.WithSkillFS("skills", threeSkills())
	for want, tt := range map[string]struct {
		option satchel.Option
		is     error
	}{
		`invalid option: WithOverview: Pinned: unknown skill "nope"`: {
			satchel.WithOverview(satchel.Overview{Pinned: []string{"pdf-forms", "nope"}}), catalog.ErrUnknownSkill,
		},
		`invalid option: WithPermissions: ToolSkills: "sql_query": unknown skill "nope"`: {
			satchel.WithPermissions(satchel.Permissions{ToolSkills: map[string][]string{"sql_query": {"sales-db", "nope"}}}), catalog.ErrUnknownSkill,
		},
		`invalid option: WithPermissions: ToolSkills: "a": unknown skill "first"`: {
			satchel.Options(
				satchel.WithPermissions(satchel.Permissions{ToolSkills: map[string][]string{"b": {"second"}}}),
				satchel.WithPermissions(satchel.Permissions{ToolSkills: map[string][]string{"a": {"first"}}}),
			), catalog.ErrUnknownSkill,
		},
		`invalid option: tools cannot work together: there is no tool "skill_fly"`: {
			satchel.WithTools(satchel.Tools{Names: []string{"skill_load", "skill_fly"}}), tools.ErrSet,
		},
		`invalid option: WithTools: tools cannot work together: unknown tool profile "half": use full or knowledge_only`: {
			satchel.WithTools(satchel.Tools{Profile: "half"}), tools.ErrSet,
		},
		`invalid option: WithTools: Vocabulary: "latin" is none of Satchel's and has no Operations`: {
			satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: "latin"}}), nil,
		},
		`invalid option: tools cannot work together: look is of no use without skill_fly`: {
			satchel.WithTools(satchel.Tools{Operations: []tools.Operation{needing("look", "skill_fly")}}), tools.ErrSet,
		},
		`invalid option: WithLoading: Mode: unknown load mode loadmode.Mode(9): use a constant of package loadmode`: {
			satchel.WithLoading(satchel.Loading{Mode: loadmode.Mode(9)}), loadmode.ErrMode,
		},
		`invalid option: WithRunner: `: {
			satchel.WithRunner(satchel.Runner{Dependencies: t.TempDir() + "/nope"}), nil,
		},
	} {
		rt, err := satchel.New(skills, tt.option)
		if !errors.Is(err, satchel.ErrOption) || tt.is != nil && !errors.Is(err, tt.is) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("New fails with %v, want %s", err, want)
		}
		if rt != nil {
			t.Errorf("%s: New returned a runtime", want)
			rt.Close()
		}
	}
}

// needing returns the operation of a tool that needs another one.
func needing(name, other string) tools.Operation {
	o := callOf(name)
	o.Needs = []string{other}
	return o
}

// ToolSkills takes every name that a pinned skill may have: of hidden skills, and qualified ones.
func TestToolSkillsAreNamedLikePinnedSkills(t *testing.T) {
	for _, name := range []string{"pdf-forms", "secret", "world:pdf-forms"} {
		rt, err := satchel.New(satchel.WithSkillFS("world", threeSkills()), satchel.WithOverview(satchel.Overview{Pinned: []string{name}}),
			satchel.WithPermissions(satchel.Permissions{ToolSkills: map[string][]string{"sql_query": {name}}}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rt.Close()
	}
}
