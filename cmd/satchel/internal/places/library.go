package places

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/postgres"
	"github.com/satchel-go/satchel/library/sqlstore/sqlite"
)

// LibraryFlags are the flags that say where a skill library is, and whose skills are
// meant.
type LibraryFlags struct {
	Library string   `placeholder:"ADDRESS" help:"The skill library: sqlite:FILE or postgres://… Default: $$SATCHEL_LIBRARY."`
	Plugins []string `name:"library-plugin" sep:"none" placeholder:"DIR" help:"A plugin that is installed in DIR, whose skills the library serves; may be repeated."`
	Tenant  string   `placeholder:"T" help:"Whose skills they are (default: no name)."`
	As      string   `placeholder:"SUBJECT" help:"Who acts (default: your name on this system)."`
}

// Library is an open library with its store and plugins, which Close closes.
type Library struct {
	*library.Library
	closing cli.Closers
}

// Close closes the library and its store. A nil library has nothing to close.
func (o *Library) Close() error {
	if o == nil {
		return nil
	}
	return o.closing.Close()
}

// Catalog is an open catalog with the library that it reads, if any.
type Catalog struct {
	*catalog.Catalog
	library *Library
	Roots   []source.Root
}

// OpenCatalog opens the catalog of the roots and of a library.
func OpenCatalog(ctx context.Context, roots []source.Root, opts []catalog.Option, place *LibraryFlags, env func(string) string) (*Catalog, error) {
	more, l, err := place.openRoots(ctx, env)
	if err != nil {
		return nil, err
	}
	roots = append(roots, more...)
	skills, err := catalog.Open(ctx, roots, opts...)
	if err != nil {
		return nil, errors.Join(ExplainOpen(err), l.Close())
	}
	return &Catalog{skills, l, roots}, nil
}

// Close closes both.
func (s *Catalog) Close() error { return errors.Join(s.Catalog.Close(), s.library.Close()) }

// Address returns the address of the library, or "".
func (f *LibraryFlags) Address(env func(string) string) string {
	return cmp.Or(f.Library, env("SATCHEL_LIBRARY"))
}

// Open opens the library. It returns nil if there is no address.
func (f *LibraryFlags) Open(ctx context.Context, env func(string) string) (_ *Library, err error) {
	address := f.Address(env)
	if address == "" {
		return nil, nil
	}
	o := &Library{}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
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
		p, err := library.OpenPlugin(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("%w: --library-plugin: %w", cli.ErrStart, err)
		}
		if c, ok := p.Source.(io.Closer); ok {
			o.closing = append(o.closing, c)
		}
		plugins = append(plugins, p)
	}
	if o.Library, err = library.New(store, library.WithPlugins(plugins...)); err != nil {
		return nil, fmt.Errorf("%w: --library-plugin: %w", cli.ErrStart, err)
	}
	return o, nil
}

func openLibraryStore(ctx context.Context, address string) (library.Store, error) {
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return sqlite.Open(ctx, file)
	}
	if IsPostgres(address) {
		return postgres.Open(ctx, address)
	}
	return nil, fmt.Errorf("%w: --library: want sqlite:FILE or postgres://…", cli.ErrUsage)
}

// IsPostgres reports whether an address is one of PostgreSQL.
func IsPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Need opens the library, and fails if no flag and no variable names one.
func (f *LibraryFlags) Need(ctx context.Context, c cli.Console) (*Library, error) {
	l, err := f.Open(ctx, c.Env)
	if err == nil && l == nil {
		err = fmt.Errorf("%w: name the library with --library, or SATCHEL_LIBRARY", cli.ErrUsage)
	}
	return l, err
}

// openRoots opens the library, if a flag names one. The root that it returns has the skills that the
// subject of the flags may read.
func (f *LibraryFlags) openRoots(ctx context.Context, env func(string) string) ([]source.Root, *Library, error) {
	l, err := f.Open(ctx, env)
	if err != nil || l == nil {
		return nil, nil, err
	}
	return []source.Root{f.rootOf(l)}, l, nil
}

// rootOf returns the skills of a library that the subject of the flags may read.
func (f *LibraryFlags) rootOf(l *Library) source.Root {
	reader := library.Actor{Tenant: f.Tenant, Subject: f.Subject()}
	return source.From("library", l.SourceFor(reader)).In(core.ScopeUser)
}

// isLibrary reports whether a place of skills is the address of a library.
func isLibrary(place string) bool { return strings.HasPrefix(place, "sqlite:") || IsPostgres(place) }

// openPlace opens the library that a flag --skills names. The console closes it when the process
// ends.
func (f *LibraryFlags) openPlace(ctx context.Context, c cli.Console, place string) (source.Root, error) {
	at := *f
	at.Library = place
	l, err := at.Open(ctx, c.Env)
	if err != nil {
		return source.Root{}, err
	}
	c.AtExit.Add(l)
	return at.rootOf(l), nil
}

// Subject returns the subject of --as, or the user of the operating system.
func (f *LibraryFlags) Subject() string {
	if f.As != "" {
		return f.As
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid()) // a container may have a number and no name
}

// Maintainer returns the actor of the commands of a library, who has the role maintainer.
func (f *LibraryFlags) Maintainer() library.Actor {
	return library.Actor{Tenant: f.Tenant, Subject: f.Subject(), Roles: []library.Role{"maintainer"}}
}
