package skilltools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/skillargs"
	"github.com/satchel-go/satchel/tools"
)

// NamesToLoad returns the names of the skills that a call loads, each once. It returns none for a
// call that loads nothing, or that will be refused because of its arguments.
func NamesToLoad(s *Scope, rec *state.Record, o *tools.Operation, args tools.Args) []string {
	if args.Err() != nil || args.Missing() != nil {
		return nil
	}
	var names []string
	switch {
	case o.Name == "skill_load":
		names = namesOf(args)
	case slices.ContainsFunc(o.Fields, func(f tools.Field) bool { return f.Name == "names" }) && o.StandsFor("skill_load"):
		for _, n := range args.Texts("names") {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if checkCap(s, rec, names) != nil || len(names) > 1 && ArgumentsOf(args) != "" {
		return nil
	}
	return names
}

// SkillToLoad resolves a name of [NamesToLoad].
func SkillToLoad(ctx context.Context, s *Scope, rec *state.Record, name string) (core.Skill, error) {
	return s.skillAt(ctx, rec, name)
}

// BodyText returns the text of a skill as a load with arguments would deliver it. An error for the
// model is a [tools.ModelError].
func BodyText(ctx context.Context, s *Scope, skill core.Skill, arguments string) (string, error) {
	read, body, err := s.withName(skill).Catalog().Body(ctx, skill.Name)
	if err != nil {
		return "", readError(ctx, err, "skill %q cannot be read", skill.Name)
	}
	rendered, err := Rendered(read, body, arguments)
	if errors.Is(err, skillargs.ErrArguments) {
		return "", tools.ModelErrorf("skill %q: %v", skill.Name, err)
	}
	return cmp.Or(rendered.Text, body.Text), err
}

// WithoutReceipts changes the lines of a foreign text that look like receipts.
func WithoutReceipts(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n[skill#", "\n [skill#"), "\n")
}
