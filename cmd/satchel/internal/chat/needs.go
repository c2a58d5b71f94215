package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
)

// awaitNeeds waits a moment until the programs that skills need were looked for, so that the first
// answer to a load says what is missing.
func awaitNeeds(ctx context.Context, rt *satchel.Runtime) {
	declares := func(skill core.Skill) bool { return skill.Needs != nil }
	if !slices.ContainsFunc(rt.Catalog().Snapshot().Skills(), declares) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, needs.MaxWait)
	defer cancel()
	_ = rt.Ready(ctx) // what it finds is reported elsewhere
}

// lackingSkill is a skill whose needs are not all met.
type lackingSkill struct {
	Name  string            `json:"name"`
	Needs *places.NeedsJSON `json:"needs"`

	line string // for people
}

// needs adds the skills of --skills that lack something.
func (cmd *DoctorCommand) needs(ctx context.Context, c cli.Console, d *Diagnosis) (err error) {
	if len(cmd.Skills) == 0 {
		return nil
	}
	var roots []source.Root
	for _, dir := range cmd.Skills {
		roots = append(roots, source.Dir(dir))
	}
	skills, err := catalog.Open(ctx, roots, places.WithoutLog)
	if err != nil {
		return fmt.Errorf("%w: --skills: %w", cli.ErrStart, err)
	}
	defer func() { err = errors.Join(err, skills.Close()) }()
	where := places.NeedFlags{Executor: cmd.Executor, Readable: cmd.Readable, Containers: cmd.Containers}
	check, err := where.Open(ctx, c, skills)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, check.Close()) }()
	for _, skill := range skills.Snapshot().Skills() {
		if line := check.Unmet(ctx, skill); line != "" {
			d.Skills = append(d.Skills, lackingSkill{skill.Name, check.JSON(ctx, skill), line})
		}
	}
	return nil
}
