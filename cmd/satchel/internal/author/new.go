// Package author holds the commands that write, check, pack and install skills.
package author

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// NewCommand writes the folder of a new skill.
type NewCommand struct {
	Dir         string `default:".agents/skills" placeholder:"DIR" help:"Where the skill's folder is made (default ${default})."`
	Description string `placeholder:"TEXT" help:"What the skill does, and when to use it."`
	JSON        bool   `help:"One JSON object: path."`
	Scripts     bool   `help:"With a script to begin with."`
	Name        string `arg:"" name:"name" help:"The skill: lower-case letters, digits and hyphens."`
}

// Help is the long help of the command.
func (NewCommand) Help() string {
	return `Makes a folder with a SKILL.md to fill in, and prints its path. Nothing that exists is
changed. satchel validate says what is still not usual. Skills in .agents/skills are found
by --discover, once satchel trust has named the project; --dir skills puts one where your
program reads it.`
}

const newBody = `# %s

Say here, step by step, how the task is done.
`

const newScripts = `
Run the script and read what it prints:

    scripts/run.sh FILE
`

const newScript = `#!/bin/sh
set -eu
echo "nothing is done with $1 yet"
`

// Run makes the folder.
func (cmd *NewCommand) Run(c cli.Console) error {
	for _, d := range skilltext.NameProblems(cmd.Name) {
		return fmt.Errorf("%w: %s", cli.ErrUsage, d.Message)
	}
	description := cmp.Or(cmd.Description, "Say what this does. Use it when a task needs that.")
	if err := os.MkdirAll(cmd.Dir, 0o755); err != nil { //nolint:gosec // skills are no secrets
		return fmt.Errorf("new: %w", err)
	}
	dir, err := os.OpenRoot(cmd.Dir)
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	defer dir.Close()
	err = dir.Mkdir(cmd.Name, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("new: %s is there already", filepath.Join(cmd.Dir, cmd.Name))
	}
	if err != nil {
		return fmt.Errorf("new: %w", err)
	}
	body := fmt.Sprintf(newBody, cmd.Name)
	if cmd.Scripts {
		body += newScripts
		err = errors.Join(
			dir.Mkdir(cmd.Name+"/scripts", 0o755),
			dir.WriteFile(cmd.Name+"/scripts/run.sh", []byte(newScript), 0o755),
		)
	}
	doc := skillmd.Document{Skill: core.Skill{Name: cmd.Name, Description: description}, Body: body}
	if err = errors.Join(err, dir.WriteFile(cmd.Name+"/SKILL.md", doc.Render(), 0o644)); err != nil {
		return fmt.Errorf("new: %w", err)
	}
	if cmd.JSON {
		return cli.WriteJSON(c.Out, struct {
			Path string `json:"path"`
		}{filepath.Join(cmd.Dir, cmd.Name, "SKILL.md")})
	}
	_, err = fmt.Fprintln(c.Out, cli.Printable(filepath.Join(cmd.Dir, cmd.Name, "SKILL.md")))
	return err
}
