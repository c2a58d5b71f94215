package places

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// Absolute makes paths of directories clean and absolute.
func Absolute(dirs []string) ([]string, error) {
	var all []string
	for _, dir := range dirs {
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

// SkillDirs are the flags that say where skills are.
type SkillDirs struct {
	Skills      []string `sep:"none" placeholder:"DIR" help:"Directory that is searched for skills, archive or its address, which #sha256=HEX pins, host with an index of skills (https://example.com), or library (sqlite:FILE, postgres://…); may be repeated. Without it: $$SKILLS_ROOT."`
	Discover    bool     `help:"Search the well-known places too: .claude/skills and .agents/skills of this project, if it is trusted, and of your home directory."`
	SourceFlags `embed:""`

	// Roots are the places that Resolve has found, and Reading how a catalog reads them.
	Roots   []source.Root    `kong:"-"`
	Reading []catalog.Option `kong:"-"`
	// Searching says how a catalog searches them, beside the flags.
	Searching []catalog.Option `kong:"-"`
	// Warnings prints what is wrong with them.
	Warnings *Warnings `kong:"-"`
}

// Resolve finds the places that the flags name and checks --locked. With always it searches the
// well-known places if no flag and no variable names a place.
func (f *SkillDirs) Resolve(ctx context.Context, c cli.Console, always bool) (err error) {
	named := len(f.Skills) > 0 || c.Env(EnvRoot) != "" || len(f.Plugin) > 0
	f.Warnings = &Warnings{Out: c.Err}
	f.Reading = append(f.SourceFlags.ReadOptions(c.Env), catalog.WithLogger(slog.New(f.Warnings)))
	f.Reading = append(f.Reading, f.Searching...)
	if f.Roots, err = f.SourceFlags.FindRoots(ctx, c, f.Skills, f.Discover || always && !named); err != nil {
		return err
	}
	return f.SourceFlags.CheckLocked(ctx, c, f.Skills, f.Roots)
}

// Open opens the catalog of the flags, and the library that they name.
func (f *SkillDirs) Open(ctx context.Context, c cli.Console, l *LibraryFlags) (*Catalog, error) {
	f.SourceFlags.Reader = l
	if err := f.Resolve(ctx, c, l.Address(c.Env) == ""); err != nil {
		return nil, err
	}
	f.Warnings.Once = map[string]bool{} // of all catalogs that the command opens
	reading := cli.Progress{Console: c}
	reading.At("reading skills of %s", cli.Count(len(f.Roots), "place"))
	s, err := f.ForAudience(OpenCatalog(ctx, f.Roots, f.Reading, l, c.Env))
	reading.Done()
	if err == nil {
		f.Warnings.CheckVisible(s.Roots, s.WithoutAudience().Snapshot(), f.Audience)
	}
	return s, err
}
