package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// addPackages adds the directories of the packages that the skills of the run require. It warns
// about packages that are not installed.
func (a *activeRun) addPackages(ctx context.Context) error {
	if a.Dependencies == nil {
		return nil
	}
	for _, k := range a.skills() {
		required, err := a.Dependencies.Find(ctx, func(name string) ([]byte, error) { return k.ReadFile(ctx, name) })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, skillset.ErrChanged):
			return err
		case err != nil:
			a.warn(fmt.Sprintf("the packages of skill %q cannot be looked for: %v", k.ID(), err))
			continue
		}
		for _, file := range required.Missing {
			a.warn(fmt.Sprintf("the packages in %s of skill %q are not installed: who runs the server installs them with satchel deps", file, k.ID()))
		}
		for _, env := range required.Environments {
			for _, v := range env.Vars() {
				switch name, value, _ := strings.Cut(v, "="); name {
				case "PYTHONPATH":
					a.python = append(a.python, value)
				case "NODE_PATH":
					a.node = append(a.node, value)
				case "NODE_OPTIONS":
					a.nodeOptions = value
				}
			}
		}
	}
	return nil
}
