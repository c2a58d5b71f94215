package skilltools

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Unload returns the operation skill_unload, which removes skills from view.
func Unload() tools.Operation {
	return tools.Operation{
		Name:        "skill_unload",
		Description: "Unload finished skills.",
		Fields: []tools.Field{
			{Name: "skills", Kind: tools.Texts, Aliases: append(skillsAliases(), append(skillAliases(), "skill")...)},
			{Name: "all", Kind: tools.Flag},
		},
		Kind:  tools.Changes,
		Needs: []string{"skill_load"},
		Call:  With(unload),
	}
}

func unload(ctx context.Context, s *Scope, args tools.Args) (string, error) {
	names := args.Texts("skills")
	if len(names) == 0 && !args.Flag("all") {
		return "", tools.ModelErrorf(`name skills, such as {"skills":["…"]}, or set all`)
	}
	c := unloading{scope: s, snapshot: s.Catalog().Snapshot(), names: names, all: args.Flag("all")}
	return c.save(ctx)
}

// save makes and saves the change, emits its events, and returns the answer.
func (c *unloading) save(ctx context.Context) (string, error) {
	s := c.scope
	answer, err := s.Update(ctx, c.apply)
	if err != nil {
		return "", err
	}
	for _, name := range c.unknown {
		s.Emit(ctx, core.Event{Kind: core.SkillNotFound, Detail: printable.Cut(name, 80), Skills: s.Catalog().Suggest(name)})
	}
	for _, ch := range c.receipt.Changes {
		s.Emit(ctx, core.Event{Kind: core.SkillUnloaded, Skill: ch.Skill})
		if !slices.Contains(c.ended, ch.Skill) {
			s.Emit(ctx, core.Event{Kind: core.SkillCompleted, Skill: ch.Skill, Detail: "unloaded"})
		}
	}
	s.emitAll(ctx, c.cleared)
	return answer, nil
}

// unloading is the change of one call. apply may run several times until the change is saved.
type unloading struct {
	scope        *Scope
	snapshot     *catalog.Snapshot
	names        []string
	all          bool
	formatAnswer AnswerFunc // nil for the answer of skill_unload

	lines   []string
	receipt state.Receipt
	unknown []string // names that mean no skill
	ended   []string // skills whose loads had ended before
	cleared []core.Event
}

// apply returns the record after the change of rec, and the answer.
func (c *unloading) apply(rec *state.Record) (*state.Record, string, error) {
	next := rec.Clone()
	c.lines, c.unknown, c.ended, c.receipt = nil, nil, nil, state.Receipt{Call: c.scope.Number()}
	names := c.names
	if c.all {
		names = nil
		for _, a := range rec.Active {
			names = append(names, a.Skill)
		}
	}
	for _, name := range names {
		// The catalog may not have a loaded skill any more, so its name in the record
		// counts too.
		skill, err := ResolveFor(c.snapshot, next, name)
		if err == nil && next.Find(name) == nil {
			name = skill.Name
		}
		if next.IsPermanent(name) {
			why := "it is loaded for the whole conversation"
			if next.IsTask(name) {
				why = "it is your task, and stays loaded to its end"
			}
			c.lines = append(c.lines, "not unloaded: "+printable.CutLine(name, 256)+" ("+why+")")
			continue
		}
		if !next.Unload(name) {
			c.lines = append(c.lines, "not loaded: "+printable.CutLine(name, 80))
			if errors.Is(err, catalog.ErrUnknownSkill) {
				c.unknown = append(c.unknown, name)
			}
			continue
		}
		if c.scope.hasEnded(rec, name) {
			c.ended = append(c.ended, name)
		}
		c.lines = append(c.lines, "unloaded: "+printable.CutLine(name, 256))
		c.receipt.Changes = append(c.receipt.Changes, state.Change{Op: state.Unloaded, Skill: name})
	}
	c.cleared = c.scope.cleared(rec, next, state.ClearedByUnload)
	if c.formatAnswer != nil {
		text, err := c.formatAnswer(next, c.lines, receiptText(c.receipt))
		if len(c.receipt.Changes) == 0 {
			next = rec
		}
		return next, text, err
	}
	c.lines = append(c.lines, "still loaded: "+loadedNames(next))
	if len(c.receipt.Changes) == 0 {
		return rec, strings.Join(c.lines, "\n"), nil
	}
	c.lines = append(c.lines, c.receipt.String())
	return next, strings.Join(c.lines, "\n"), nil
}

// hasEnded reports whether the load of a skill has ended with an answer of the model, in mode Once.
func (s *Scope) hasEnded(rec *state.Record, skill string) bool {
	return s.Mode == loadmode.Once && state.IsSpent(rec, skill)
}

func loadedNames(rec *state.Record) string {
	if len(rec.Active) == 0 {
		return "none"
	}
	var names []string
	for _, a := range rec.Active {
		names = append(names, a.Skill)
	}
	return strings.Join(names, ", ")
}
