package author

import (
	"context"
	"fmt"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ValidateCommand checks skills and prints the findings.
type ValidateCommand struct {
	Strict    bool     `xor:"mode" help:"A file must meet every MUST of the specification."`
	SkillsRef bool     `xor:"mode" help:"Like --strict, and reject what the skills-ref tool rejects."`
	JSON      bool     `help:"One JSON object per line for each file."`
	Skills    []string `sep:"none" placeholder:"DIR" help:"A directory of skills, like the arguments; may be repeated."`
	Dirs      []string `arg:"" optional:"" name:"dir" help:"Skills, or directories of skills."`
}

// Help is the long help of the command.
func (ValidateCommand) Help() string {
	return `Says of each skill what satchel inspect says, and what is usual among skills and not so in
this one: reserved words and no gerund in the name, XML tags, a description in the first or
second person or without a word on when to use the skill, a version that is not semantic,
pairs of tools that can write code and run it, what looks like a key (never printed),
names of files, and tools in the text that the skill's own lists do not allow, or that
are not known. The last line, with --json on standard error, says what it does not find.

Exit code: 0 when every file could be loaded, whatever the warnings, else 1.`
}

// validateEnd is the last line of validate.
const validateEnd = "validate finds mistakes, not malice; scan with a scanner of your choice (install --scan)"

// Run validates the skills.
func (cmd *ValidateCommand) Run(ctx context.Context, c cli.Console) error {
	if cmd.Dirs = slices.Concat(cmd.Skills, cmd.Dirs); len(cmd.Dirs) == 0 {
		return fmt.Errorf(`%w: expected "<dir> ..."`, cli.ErrUsage)
	}
	inspect := InspectCommand{Strict: cmd.Strict, SkillsRef: cmd.SkillsRef, JSON: cmd.JSON, Files: cmd.Dirs, advise: true}
	return inspect.Run(ctx, c)
}

// filesToAdvise returns the slash-separated paths of the files of the skill in dir.
func filesToAdvise(dir string) (all []string) {
	seen := 0
	_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxAdvisedFiles {
			return fs.SkipAll
		}
		if d.IsDir() {
			if _, err := os.Lstat(filepath.Join(at, "SKILL.md")); at != dir && err == nil || d.Name() == "node_modules" || d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if rel, err := filepath.Rel(dir, at); err == nil {
			all = append(all, filepath.ToSlash(rel))
		}
		return nil
	})
	return all
}
