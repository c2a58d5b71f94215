package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/eval"
)

// EvalInitCommand writes a first suite.
type EvalInitCommand struct {
	places.SkillDirs    `embed:""`
	places.LibraryFlags `embed:""`
	JSON                bool   `help:"One JSON object: skill, and the files that were written."`
	Skill               string `arg:"" help:"The skill: its folder, or its name."`
}

// Help is the long help of the command.
func (EvalInitCommand) Help() string {
	return `Writes evals/evals.json and evals/eval_queries.json into the folder of the skill, with
requests made from its description: some that it should load for, and some that it
should not. They are a start: replace them by what your users write. A skill that has
a suite keeps it, and nothing is written.

Exit code: 0 when both files were written, 1 when the skill has a suite, 2 when there
is no such skill or it is not in a directory.`
}

// evalWritten is the answer of --json; the names of the fields are stable.
type evalWritten struct {
	Skill string   `json:"skill"`
	Files []string `json:"files"`
}

// Run writes the suite.
func (cmd *EvalInitCommand) Run(ctx context.Context, c cli.Console) (err error) {
	skills, skill, closeSkills, err := cmd.find(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSkills()) }()
	if skill.RootDir == "" {
		return fmt.Errorf("%w: the skill %q is not in a directory that can be written", cli.ErrStart, skill.Name)
	}
	dir, err := os.OpenRoot(skill.RootDir)
	if err != nil {
		return fmt.Errorf("%w: %w", cli.ErrStart, err)
	}
	defer dir.Close()
	for _, name := range eval.SuiteNames() {
		if _, err := dir.Lstat(name); err == nil {
			return fmt.Errorf("eval init: %s exists: nothing was written", filepath.Join(skill.RootDir, filepath.FromSlash(name)))
		}
	}
	suite, err := firstSuite(ctx, skills, &skill)
	if err != nil {
		return err
	}
	if err := dir.MkdirAll("evals", 0o755); err != nil {
		return fmt.Errorf("eval init: %w", err)
	}
	written := evalWritten{Skill: skill.Name}
	for _, f := range []struct {
		name    string
		content any
	}{{"evals/evals.json", suite.evals}, {"evals/eval_queries.json", suite.queries}} {
		if err := writeNew(dir, f.name, f.content); err != nil {
			return fmt.Errorf("eval init: %w", err)
		}
		written.Files = append(written.Files, filepath.Join(skill.RootDir, filepath.FromSlash(f.name)))
	}
	if cmd.JSON {
		return cli.WriteJSON(c.Out, written)
	}
	for _, file := range written.Files {
		fmt.Fprintf(c.Out, "wrote %s\n", cli.Printable(file))
	}
	_, err = fmt.Fprintf(c.Out, "Replace the queries by what your users write, then run: satchel eval --skills %s\n", cli.Printable(filepath.Dir(skill.RootDir)))
	return err
}

// find returns the skill of the argument, and the catalog that has it. The argument is the folder of
// a skill, or the name of a skill that the flags find.
func (cmd *EvalInitCommand) find(ctx context.Context, c cli.Console) (*catalog.Catalog, core.Skill, func() error, error) {
	if isSkillFolder(cmd.Skill) {
		dir, err := filepath.Abs(cmd.Skill)
		if err != nil {
			return nil, core.Skill{}, nil, err
		}
		skills, err := catalog.Open(ctx, []source.Root{source.Dir(dir)}, places.WithoutLog)
		if err != nil {
			return nil, core.Skill{}, nil, fmt.Errorf("%w: %w", cli.ErrStart, err)
		}
		for _, skill := range skills.Snapshot().Skills() {
			if skill.RootDir == dir {
				return skills, skill, skills.Close, nil
			}
		}
		return nil, core.Skill{}, nil, errors.Join(fmt.Errorf("%w: %s is not a usable skill; satchel inspect says why", cli.ErrStart, cmd.Skill), skills.Close())
	}
	if info, err := os.Stat(cmd.Skill); err == nil && info.IsDir() && strings.ContainsAny(cmd.Skill, `/\`) {
		return nil, core.Skill{}, nil, fmt.Errorf("%w: %s has no SKILL.md; satchel new NAME begins a skill", cli.ErrStart, cmd.Skill)
	}
	skills, err := cmd.SkillDirs.Open(ctx, c, &cmd.LibraryFlags)
	if err != nil {
		return nil, core.Skill{}, nil, notAsked(err)
	}
	skill, err := skills.Catalog.Snapshot().Resolve(cmd.Skill)
	if err != nil {
		return nil, core.Skill{}, nil, errors.Join(fmt.Errorf("%w: %w", cli.ErrStart, err), skills.Close())
	}
	return skills.Catalog, skill, skills.Close, nil
}

// isSkillFolder reports whether a path is a directory with a SKILL.md.
func isSkillFolder(path string) bool {
	for _, name := range []string{"SKILL.md", "skill.md"} {
		if info, err := os.Stat(filepath.Join(path, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// writeNew writes a value as JSON into a file that does not exist.
func writeNew(dir *os.Root, file string, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	f, err := dir.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Close())
}
