// Package places reads the flags that several commands share, and opens what they name: skills,
// libraries, stores, artifacts and networks.
package places

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// EnvRoot names the place of skills where no flag does.
const EnvRoot = "SKILLS_ROOT"

// SourceFlags are the flags about sources of skills other than directories.
type SourceFlags struct {
	FetchFlags  `embed:"" group:"Skills of archives and of MCP servers:"`
	serverFlags `embed:"" group:"Skills of archives and of MCP servers:"`
	Locked      bool     `help:"Refuse skills that differ from satchel.lock in their directory, or from skills-lock.json of the project."`
	Plugin      []string `sep:"none" placeholder:"DIR" help:"A plugin, whose folder skills/ is searched too; may be repeated."`
	TrustFile   string   `placeholder:"FILE" help:"Which projects are trusted (satchel trust). Default: satchel/trusted.json in the directory where programs keep their state."`
	Audience    string   `placeholder:"FILE" help:"The skills that agents may see, as {\"key\":\"…\",\"allow\":[\"name\",…]}. An agent reads it again at each turn."`
	// Reader are the flags that say whose skills of a library are meant. Nil means their defaults.
	Reader     *LibraryFlags `kong:"-"`
	Collisions string        `enum:"shadow,ambiguous" default:"shadow" placeholder:"RULE" help:"What a name means that two skills have: shadow, the one of the highest rank; or ambiguous, none of them (default ${default})."`
}

// FindRoots returns the places of skills: dirs, the plugins and the MCP servers. SKILLS_ROOT takes the
// place of empty dirs. If discover is true, FindRoots adds the well-known directories.
func (f *SourceFlags) FindRoots(ctx context.Context, c cli.Console, dirs []string, discover bool) ([]source.Root, error) {
	var roots []source.Root
	env := c.Env
	if place := env(EnvRoot); place != "" && len(dirs) == 0 {
		dirs = []string{place}
	}
	for _, place := range dirs {
		root, err := f.FetchFlags.Root(ctx, c, f.Reader, place)
		if errors.Is(err, cli.ErrUsage) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", cli.ErrStart, err)
		}
		roots = append(roots, root)
	}
	if discover {
		here, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("%w: discover skills: %w", cli.ErrStart, err)
		}
		roots = append(roots, source.Discover(here, env)...)
	}
	for _, dir := range f.Plugin {
		roots = append(roots, source.Plugin(dir))
	}
	servers, err := f.serverFlags.roots(ctx, c)
	return append(roots, servers...), err
}

// ReadOptions returns the options of the catalog.
func (f *SourceFlags) ReadOptions(env func(string) string) []catalog.Option {
	rule := catalog.Shadow
	if f.Collisions == "ambiguous" {
		rule = catalog.Ambiguous
	}
	opts := []catalog.Option{catalog.WithCollisions(rule)}
	if trusted, err := TrustFile(f.TrustFile, env); err == nil { // without a home no project is trusted
		opts = append(opts, catalog.WithTrust(source.TrustFile(trusted).Trusts))
	}
	return opts
}

// CheckLocked returns an error if --locked is set and skills differ from their lock file. It checks the
// named directories or, if there are none, the trusted places.
func (f *SourceFlags) CheckLocked(ctx context.Context, c cli.Console, named []string, places []source.Root) error {
	if !f.Locked {
		return nil
	}
	if len(named) == 0 {
		for _, place := range places {
			info, err := os.Stat(place.Path())
			if err != nil || !info.IsDir() {
				continue
			}
			trusted := place.Scope() != core.ScopeProject
			if file, err := TrustFile(f.TrustFile, c.Env); !trusted && err == nil {
				if trusted, err = source.TrustFile(file).Trusts(ctx, place); err != nil {
					return err
				}
			}
			if trusted {
				named = append(named, place.Path())
			}
		}
	}
	return checkLocked(ctx, c, named)
}

// home returns the home directory of the user, or "".
func home(env func(string) string) string {
	if runtime.GOOS == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}

// TrustFile returns the path of the file of trusted projects. The default is that of the user.
func TrustFile(named string, env func(string) string) (string, error) {
	if named != "" {
		return named, nil
	}
	dir := env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		if home(env) == "" {
			return "", fmt.Errorf("%w: there is no home directory for the file of trusted projects; name one with --trust-file", cli.ErrUsage)
		}
		dir = filepath.Join(home(env), ".local", "state")
	}
	return filepath.Join(dir, "satchel", "trusted.json"), nil
}

// audienceFile is what --audience reads; the names of its fields are stable.
type audienceFile struct {
	Key   string    `json:"key"`
	Allow *[]string `json:"allow"`
}

// ReadAudience reads the file of --audience. Its list allows skills by name, qualified name or id.
func ReadAudience(path string) (satchel.Audience, error) {
	f, err := os.Open(path)
	if err != nil {
		return satchel.Audience{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAudience+1))
	if err == nil && len(data) > maxAudience {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxAudience)
	}
	if err != nil {
		return satchel.Audience{}, err
	}
	var file audienceFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return satchel.Audience{}, fmt.Errorf("%s: %w", path, cli.JSONError(err))
	}
	if file.Key == "" || file.Allow == nil {
		return satchel.Audience{}, errors.New(path + `: want {"key":"…","allow":["name",…]}`)
	}
	names := *file.Allow
	key, err := json.Marshal(file) // another list is another audience
	return satchel.Audience{Key: string(key), Allow: func(s core.Skill) bool {
		return slices.Contains(names, s.Name) || slices.Contains(names, s.Qualified) || slices.Contains(names, s.ID)
	}}, err
}

// ForAudience returns the catalog as the audience of the flag sees it. It takes the results of
// [OpenCatalog].
func (f *SourceFlags) ForAudience(s *Catalog, err error) (*Catalog, error) {
	if err != nil || f.Audience == "" {
		return s, err
	}
	a, err := ReadAudience(f.Audience)
	if err != nil {
		return nil, fmt.Errorf("%w: --audience: %w", cli.ErrStart, errors.Join(err, s.Close()))
	}
	s.Catalog = s.Catalog.For(a.Key, a.Allow)
	return s, nil
}

// AudienceOption returns the option for --audience. The file is read again at each turn. A failed
// read is reported once.
func (f *SkillDirs) AudienceOption() (satchel.Option, error) {
	if _, err := ReadAudience(f.Audience); err != nil {
		return nil, fmt.Errorf("%w: --audience: %w", cli.ErrStart, err)
	}
	var failed atomic.Bool
	return satchel.WithAudience(func(context.Context, core.SessionKey) satchel.Audience {
		a, err := ReadAudience(f.Audience)
		if again := failed.Swap(err != nil); err != nil { // without the file the rights are unknown: no skill is shown
			if !again {
				f.Warnings.print(skillmd.Diagnostic{Message: "--audience: " + err.Error() + "; until it can be read, the model sees no skill"})
			}
			return satchel.Audience{Key: "unreadable", Allow: func(core.Skill) bool { return false }}
		}
		return a
	}), nil
}
