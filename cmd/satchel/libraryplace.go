package main

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

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/postgres"
	"github.com/satchel-go/satchel/library/sqlstore/sqlite"
)

// libraryPlace are the flags that say where a skill library is, and whose skills are
// meant.
type libraryPlace struct {
	Library string   `placeholder:"ADDRESS" help:"The skill library: sqlite:FILE or postgres://… Default: $$SATCHEL_LIBRARY."`
	Plugins []string `name:"library-plugin" sep:"none" placeholder:"DIR" help:"A plugin that is installed in DIR, whose skills the library serves; may be repeated."`
	Tenant  string   `placeholder:"T" help:"Whose skills they are (default: no name)."`
	As      string   `placeholder:"SUBJECT" help:"Who acts (default: your name on this system)."`
}

// libraryFlags are the flags of an agent that uses a library.
type libraryFlags struct {
	libraryPlace `embed:""`
	Edit         string       `enum:"ask,allow,never" default:"ask" placeholder:"HOW" help:"What edits of skills need: ask (each is a question to you), allow (roles decide) or never (default ${default})."`
	Role         library.Role `placeholder:"ROLE" default:"viewer" help:"What the agent may do: viewer, author, editor or maintainer (default ${default})."`
}

var editModes = map[string]library.EditMode{"ask": library.Ask, "allow": library.Allow, "never": library.Never}

// openLibrary is an open library and what closes it.
type openLibrary struct {
	*library.Library
	closing closers
}

func (o *openLibrary) close() error {
	if o == nil {
		return nil
	}
	return o.closing.Close()
}

// shelves are an open catalog and the library that it reads, if any.
type shelves struct {
	*catalog.Catalog
	library *openLibrary
	roots   []source.Root
}

// openShelves opens the catalog of the roots and of a library.
func openShelves(ctx context.Context, roots []source.Root, opts []catalog.Option, place *libraryPlace, env func(string) string) (*shelves, error) {
	more, l, err := place.shelf(ctx, env)
	if err != nil {
		return nil, err
	}
	roots = append(roots, more...)
	skills, err := catalog.Open(ctx, roots, opts...)
	if err != nil {
		return nil, errors.Join(unopened(err), l.close())
	}
	return &shelves{skills, l, roots}, nil
}

// close closes both.
func (s *shelves) close() error { return errors.Join(s.Catalog.Close(), s.library.close()) }

// address is where the library is, "" for none.
func (f *libraryPlace) address(env func(string) string) string {
	return cmp.Or(f.Library, env("SATCHEL_LIBRARY"))
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
	actor := library.Actor{Subject: f.subject(), Roles: []library.Role{f.Role}}
	opts := []satchel.Option{library.With(l.Library, library.AgentOptions{
		Tenant: f.Tenant, Edit: editModes[f.Edit],
		Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return actor, nil },
	})}
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

// shelf opens the library, if one is named, and returns the root with the skills that
// its reader sees.
func (f *libraryPlace) shelf(ctx context.Context, env func(string) string) ([]source.Root, *openLibrary, error) {
	l, err := f.open(ctx, env)
	if err != nil || l == nil {
		return nil, nil, err
	}
	reader := library.Actor{Tenant: f.Tenant, Subject: f.subject()}
	return []source.Root{source.From("library", l.SourceFor(reader)).In(core.ScopeUser)}, l, nil
}

// subject is who acts: the subject of --as, else the user of the operating system.
func (f *libraryPlace) subject() string {
	if f.As != "" {
		return f.As
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid()) // a container may have a number and no name
}

// maintainer is who the commands act as.
func (f *libraryPlace) maintainer() library.Actor {
	return library.Actor{Tenant: f.Tenant, Subject: f.subject(), Roles: []library.Role{"maintainer"}}
}
