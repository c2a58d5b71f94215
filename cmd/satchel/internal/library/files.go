package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/skillmd"
)

type libraryImportCmd struct {
	places.LibraryFlags `embed:""`
	Private             bool     `help:"For the subject of --as alone."`
	Update              bool     `help:"Make a new version of a skill that the library has."`
	JSON                bool     `help:"One JSON object per line for each skill: canonicalId, versionRef, name, status, previous, added, removed and diff."`
	Reason              string   `placeholder:"TEXT" help:"Why, for the history."`
	Dirs                []string `arg:"" name:"dir" help:"Directories with a SKILL.md, or of such directories."`
}

// Run imports each directory. It reports a failure and continues with the next one.
func (cmd *libraryImportCmd) Run(ctx context.Context, c cli.Console) (err error) {
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	failed := false
	for _, dir := range cmd.Dirs {
		skills, err := skillDirsIn(dir)
		if err != nil {
			return fmt.Errorf("%w: %w", cli.ErrStart, err)
		}
		for _, skill := range skills {
			files, err := filesIn(skill)
			var out library.Outcome
			if err == nil {
				out, err = cmd.add(ctx, c, l.Library, files)
			}
			if err != nil {
				failed = true
				fmt.Fprintf(c.Err, "satchel: %s: %s\n", cli.Printable(skill), cli.OneLine(err.Error()))
				continue
			}
			if cmd.JSON {
				if err := cli.WriteJSON(c.Out, lineOf(&out)); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(c.Out, "%s %s %s%s\n", out.ID, out.VersionRef, cli.Printable(out.Name), change(&out))
		}
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

// add imports a skill, or makes the next version of the one that has its name.
func (cmd *libraryImportCmd) add(ctx context.Context, c cli.Console, l *library.Library, files map[string][]byte) (library.Outcome, error) {
	actor, name := cmd.Maintainer(), nameOf(files["SKILL.md"])
	e := library.Edit{Action: "import", Name: name, Files: files, Private: &cmd.Private, Reason: cmd.Reason}
	if !cmd.Update {
		out, err := l.Edit(ctx, actor, e)
		if errors.Is(err, library.ErrNameTaken) {
			err = fmt.Errorf("%w; --update makes a new version of the one that the library has", err)
		}
		return out, err
	}
	all, err := l.List(ctx, actor, library.ListQuery{Source: "db", All: true})
	if err != nil {
		return library.Outcome{}, err
	}
	for i := range all {
		if d := &all[i]; d.State != "archived" && d.Shared == !cmd.Private && skilltext.CleanName(d.Name) == skilltext.CleanName(name) {
			e.Skill, e.Expected = d.ID, d.VersionRef
		}
	}
	out, err := l.Edit(ctx, actor, e)
	if err != nil || e.Skill == "" || out.Status != "applied" {
		return out, err
	}
	for r, err := range l.History(ctx, actor, library.Ref{Skill: e.Skill}) {
		if err != nil {
			return out, err
		}
		if r.Ref() != e.Expected {
			continue
		}
		if r.Action != "import" {
			fmt.Fprintf(c.Err, "satchel: %s: replaces a %s by %s; satchel library restore %s v%d brings it back\n",
				cli.Printable(name), r.Action, cli.Printable(r.Subject), e.Skill, r.Version)
		}
		break
	}
	return out, nil
}

// nameOf returns the name in the front matter of a SKILL.md, "" if there is none.
func nameOf(text []byte) string {
	doc, _, err := skillmd.Parse(text)
	if err != nil {
		return ""
	}
	return doc.Skill.Name
}

// change returns how --update has changed a skill, or "" for a new one.
func change(out *library.Outcome) string {
	switch {
	case out.Status == "unchanged":
		return " unchanged"
	case out.Previous != "":
		return fmt.Sprintf(" +%d -%d", out.Diff.Added, out.Diff.Removed)
	}
	return ""
}

// skillDirsIn returns dir if it is a skill, or else the skills directly below it.
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
	places.LibraryFlags `embed:""`
	Version             string `placeholder:"V" help:"v3, a versionRef or base (default: the newest)."`
	JSON                bool   `help:"One JSON object: canonicalId, versionRef, name and dir."`
	Ref                 string `arg:"" help:"Canonical id or name."`
	Dir                 string `arg:"" help:"Where the files go; it may not be there yet."`
}

// Run writes the files.
func (cmd *libraryExportCmd) Run(ctx context.Context, c cli.Console) (err error) {
	l, err := cmd.Need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s, err := l.Inspect(ctx, cmd.Maintainer(), library.Ref{Skill: cmd.Ref, Version: cmd.Version})
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
	if cmd.JSON {
		return cli.WriteJSON(c.Out, skillLine{s.ID, s.VersionRef, s.Name, cmd.Dir})
	}
	_, err = fmt.Fprintf(c.Out, "%s %s %s\n", s.ID, s.VersionRef, cli.Printable(s.Name))
	return err
}
