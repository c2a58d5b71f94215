package measure

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
)

// EvalInitCommand writes a first suite.
type EvalInitCommand struct {
	places.SkillDirs    `embed:""`
	places.LibraryFlags `embed:""`
	JSON                bool   `help:"One JSON object: skill, and the files that were written."`
	Skill               string `arg:"" help:"The skill: its name, or its folder."`
}

// Run writes the suite.
func (cmd *EvalInitCommand) Run(ctx context.Context, c cli.Console) error {
	return errors.New("not implemented")
}
