package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/library"
)

type libraryImportCmd struct {
	libraryPlace `embed:""`
	Private      bool     `help:"For the subject of --as alone."`
	Reason       string   `placeholder:"TEXT" help:"Why, for the history."`
	Dirs         []string `arg:"" name:"dir" help:"Directories with a SKILL.md, or of such directories."`
}

// Run imports each directory. One that cannot be imported is told, and others go on.
func (cmd *libraryImportCmd) Run(ctx context.Context, c console) (err error) {
	l, err := cmd.need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	failed := false
	for _, dir := range cmd.Dirs {
		skills, err := skillDirsIn(dir)
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		for _, skill := range skills {
			files, err := filesIn(skill)
			var out library.Outcome
			if err == nil {
				out, err = l.Import(ctx, cmd.maintainer(), library.NameOf(files["SKILL.md"]), files, cmd.Private, cmd.Reason)
			}
			if err != nil {
				failed = true
				fmt.Fprintf(c.err, "satchel: %s: %s\n", printable(skill), inLine(err.Error()))
				continue
			}
			fmt.Fprintf(c.out, "%s %s %s\n", out.ID, out.VersionRef, printable(out.Name))
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// skillDirsIn are the directory, if it is a skill, or those below it that are.
func skillDirsIn(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, "SKILL.md")); err == nil {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "SKILL.md")); err == nil {
			dirs = append(dirs, filepath.Join(dir, e.Name()))
		}
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("no skills found in %s", dir)
	}
	return dirs, nil
}

const (
	maxImported      = 200
	maxImportedBytes = 1 << 20
)

// filesIn reads the files of a directory. Links are not followed.
func filesIn(dir string) (map[string][]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := map[string][]byte{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		case len(files) == maxImported:
			return fmt.Errorf("more than %d files", maxImported)
		}
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxImportedBytes+1))
		if err == nil && len(data) > maxImportedBytes {
			err = fmt.Errorf("%s has more than %d bytes", name, maxImportedBytes)
		}
		files[name] = data
		return err
	})
	return files, err
}

type libraryExportCmd struct {
	libraryPlace `embed:""`
	Version      string `placeholder:"V" help:"v3, a versionRef or base (default: the newest)."`
	Ref          string `arg:"" help:"Canonical id or name."`
	Dir          string `arg:"" help:"Where the files go; it may not be there yet."`
}

// Run writes the files.
func (cmd *libraryExportCmd) Run(ctx context.Context, c console) (err error) {
	l, err := cmd.need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	s, err := l.Inspect(ctx, cmd.maintainer(), library.Ref{Skill: cmd.Ref, Version: cmd.Version})
	if err != nil {
		return err
	}
	files, err := s.ReadAll(ctx)
	if err != nil {
		return err
	}
	if err := os.Mkdir(cmd.Dir, 0o755); err != nil { //nolint:gosec // a directory as a person makes it
		return err
	}
	root, err := os.OpenRoot(cmd.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range s.Files {
		name := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		if err := root.WriteFile(name, files[f.Path], mode); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out, "%s %s %s\n", s.ID, s.VersionRef, printable(s.Name))
	return nil
}
