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

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/postgres"
	"github.com/satchel-go/satchel/library/sqlstore/sqlite"
	"github.com/satchel-go/satchel/tools/unified"
)

// libraryPlace are the flags that say where a skill library is, and whose skills are
// meant.
type libraryPlace struct {
	Library string   `placeholder:"ADDRESS" help:"The skill library: sqlite:FILE or postgres://… Default: $$SATCHEL_LIBRARY."`
	Plugins []string `name:"library-plugin" sep:"none" placeholder:"DIR" help:"A plugin that is installed in DIR, whose skills the library serves; may be repeated."`
	Tenant  string   `placeholder:"T" help:"Whose skills they are (default: no name)."`
	As      string   `placeholder:"SUBJECT" help:"Who acts."`
}

// libraryFlags are the flags of an agent that uses a library.
type libraryFlags struct {
	libraryPlace `embed:""`
	Edit         string       `enum:"ask,allow,never" default:"ask" placeholder:"HOW" help:"What edits of skills need: ask (each is a question to you), allow (roles decide) or never (default ${default})."`
	Role         library.Role `placeholder:"ROLE" default:"viewer" help:"What the agent may do: viewer, author, editor or maintainer (default ${default})."`
}

var editModes = map[string]unified.Mode{"ask": unified.Ask, "allow": unified.Allow, "never": unified.Never}

// openLibrary is an open library and what closes it.
type openLibrary struct {
	*library.Library
	closing []io.Closer
}

func (o *openLibrary) close() error {
	if o == nil {
		return nil
	}
	var errs []error
	for _, c := range o.closing {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// address is where the library is, "" for none.
func (f *libraryPlace) address(env func(string) string) string {
	if f.Library != "" {
		return f.Library
	}
	return env("SATCHEL_LIBRARY")
}

// open opens the library; nil without an address.
func (f *libraryPlace) open(ctx context.Context, env func(string) string) (_ *openLibrary, err error) {
	address := f.address(env)
	if address == "" {
		return nil, nil
	}
	o := &openLibrary{}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	store, err := openLibraryStore(ctx, address)
	if err != nil {
		return nil, err
	}
	if c, ok := store.(io.Closer); ok {
		o.closing = append(o.closing, c)
	}
	var plugins []library.Plugin
	for _, dir := range f.Plugins {
		p, err := library.OpenPlugin(dir)
		if err != nil {
			return nil, fmt.Errorf("%w: --library-plugin: %w", errUsage, err)
		}
		if c, ok := p.Source.(io.Closer); ok {
			o.closing = append(o.closing, c)
		}
		plugins = append(plugins, p)
	}
	if o.Library, err = library.New(store, library.WithPlugins(plugins...)); err != nil {
		return nil, fmt.Errorf("%w: --library-plugin: %w", errUsage, err)
	}
	return o, nil
}

func openLibraryStore(ctx context.Context, address string) (library.Store, error) {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return sqlite.Open(ctx, file)
	}
	if isPostgres(address) {
		return postgres.Open(ctx, address)
	}
	return nil, fmt.Errorf("%w: --library: want sqlite:FILE or postgres://…", errUsage)
}

func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// options are those of the runtime; none without a library.
func (f *libraryFlags) options(l *openLibrary, vocabulary string) ([]satchel.Option, error) {
	if l == nil {
		if vocabulary == "unified" {
			return nil, fmt.Errorf("%w: --vocabulary unified needs --library", errUsage)
		}
		return nil, nil
	}
	role, err := library.ParseRole(string(f.Role))
	if err != nil {
		return nil, fmt.Errorf("%w: --role: %w", errUsage, err)
	}
	actor := library.Actor{Subject: f.As, Roles: []library.Role{role}}
	opts := []satchel.Option{satchel.WithLibrary(l.Library, satchel.LibraryOptions{
		Tenant: f.Tenant, Edit: editModes[f.Edit],
		Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return actor, nil },
	})}
	if vocabulary == "unified" {
		opts = append(opts, satchel.WithVocabulary(unified.New()))
	}
	return opts, nil
}

// asksAboutEdits reports whether a person is asked about edits.
func (f *libraryFlags) asksAboutEdits(env func(string) string) bool {
	return f.Edit == "ask" && f.address(env) != ""
}

// need is open for a command that cannot do without a library.
func (f *libraryPlace) need(ctx context.Context, c console) (*openLibrary, error) {
	l, err := f.open(ctx, c.env)
	if err == nil && l == nil {
		err = fmt.Errorf("%w: name the library with --library, or SATCHEL_LIBRARY", errUsage)
	}
	return l, err
}

// maintainer is who the commands act as.
func (f *libraryPlace) maintainer() library.Actor {
	return library.Actor{Tenant: f.Tenant, Subject: f.As, Roles: []library.Role{library.Maintainer}}
}

type libraryCmd struct {
	Migrate libraryMigrateCmd `cmd:"" help:"Make the schema of a library, or bring it up to date."`
	Import  libraryImportCmd  `cmd:"" help:"Add the skills of directories, shared and reviewed."`
	Export  libraryExportCmd  `cmd:"" help:"Write the files of a skill into a directory."`
	Restore libraryRestoreCmd `cmd:"" help:"Make a new version of an old one."`
	Review  libraryReviewCmd  `cmd:"" help:"Approve the newest version of a skill: others load it, its list of tools counts."`
	Grant   libraryGrantCmd   `cmd:"" help:"Give a subject a role."`
	Rebase  libraryRebaseCmd  `cmd:"" help:"Make the edit of a plugin's skill anew on what the plugin has now."`
	Log     libraryLogCmd     `cmd:"" help:"Print the audit."`
}

type libraryMigrateCmd struct {
	libraryPlace `embed:""`
}

// Run migrates the library.
func (cmd *libraryMigrateCmd) Run(ctx context.Context, c console) error {
	address := cmd.address(c.env)
	if isPostgres(address) {
		return postgres.Migrate(ctx, address)
	}
	l, err := cmd.need(ctx, c) // a file is migrated when it is opened
	if err != nil {
		return err
	}
	return l.close()
}

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
				out, err = l.Import(ctx, cmd.maintainer(), nameIn(files), files, cmd.Private, cmd.Reason)
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

// nameIn is the name in the front matter, "" for none: the library says what is wrong.
func nameIn(files map[string][]byte) string {
	return library.NameOf(files["SKILL.md"])
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

type libraryRestoreCmd struct {
	libraryPlace `embed:""`
	Reason       string `placeholder:"TEXT" help:"Why, for the history."`
	Ref          string `arg:"" help:"Canonical id or name."`
	Version      string `arg:"" help:"v3, a versionRef or base."`
}

// Run restores the version.
func (cmd *libraryRestoreCmd) Run(ctx context.Context, c console) error {
	return cmd.outcome(ctx, c, func(l *library.Library) (library.Outcome, error) {
		return l.Restore(ctx, cmd.maintainer(), library.Ref{Skill: cmd.Ref, Version: cmd.Version}, cmd.Reason)
	})
}

type libraryRebaseCmd struct {
	libraryPlace `embed:""`
	Ref          string `arg:"" help:"Canonical id or name."`
}

// Run rebases the overlay.
func (cmd *libraryRebaseCmd) Run(ctx context.Context, c console) error {
	return cmd.outcome(ctx, c, func(l *library.Library) (library.Outcome, error) {
		return l.Rebase(ctx, cmd.maintainer(), library.Ref{Skill: cmd.Ref})
	})
}

// outcome does something and prints the new version with its difference.
func (f *libraryPlace) outcome(ctx context.Context, c console, do func(*library.Library) (library.Outcome, error)) (err error) {
	l, err := f.need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	out, err := do(l.Library)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s %s %s\n%s", out.ID, out.VersionRef, printable(out.Name), shownDiff(out.Diff.Unified))
	return nil
}

// shownDiff makes a difference safe for a terminal, line by line.
func shownDiff(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}

type libraryReviewCmd struct {
	libraryPlace `embed:""`
	Ref          string `arg:"" help:"Canonical id or name."`
	Version      string `arg:"" help:"The newest version, as it was looked at: v3 or a versionRef."`
}

// Run reviews the version.
func (cmd *libraryReviewCmd) Run(ctx context.Context, c console) (err error) {
	l, err := cmd.need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	d, err := l.Review(ctx, cmd.maintainer(), library.Ref{Skill: cmd.Ref, Version: cmd.Version})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s %s %s\n", d.ID, d.VersionRef, printable(d.Name))
	return nil
}

type libraryGrantCmd struct {
	libraryPlace `embed:""`
	Subject      string       `arg:"" help:"Who."`
	Role         library.Role `arg:"" help:"viewer, author, editor or maintainer."`
}

// Run grants the role.
func (cmd *libraryGrantCmd) Run(ctx context.Context, c console) (err error) {
	l, err := cmd.need(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	role, err := library.ParseRole(string(cmd.Role))
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return l.Grant(ctx, cmd.maintainer(), cmd.Subject, role)
}
