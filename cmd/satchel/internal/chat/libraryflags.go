package chat

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
)

// libraryFlags are the flags of an agent that uses a library.
type libraryFlags struct {
	places.LibraryFlags `embed:""`
	Edit                string       `enum:"ask,allow,never" default:"ask" placeholder:"HOW" help:"What edits of skills need: ask (each is a question to you), allow (roles decide) or never (default ${default})."`
	Role                library.Role `placeholder:"ROLE" default:"viewer" help:"What the agent may do: viewer, author, editor or maintainer (default ${default})."`
}

// ReadLibrary gives the agent the skills of a library, which it cannot edit.
func (f *Flags) ReadLibrary(l places.LibraryFlags, env func(string) string) {
	f.libraryFlags, f.env = libraryFlags{LibraryFlags: l, Edit: "never", Role: "viewer"}, env
}

var editModes = map[string]library.EditMode{"ask": library.Ask, "allow": library.Allow, "never": library.Never}

// options returns the options of the runtime. There are none without a library.
func (f *libraryFlags) options(l *places.Library, vocabulary string) ([]satchel.Option, error) {
	if l == nil {
		if vocabulary == "unified" {
			return nil, fmt.Errorf("%w: --vocabulary unified needs --library", cli.ErrUsage)
		}
		return nil, nil
	}
	actor := library.Actor{Subject: f.Subject(), Roles: []library.Role{f.Role}}
	opts := []satchel.Option{library.With(l.Library, library.AgentOptions{
		Tenant: f.Tenant, Edit: editModes[f.Edit],
		Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return actor, nil },
	})}
	return opts, nil
}

// asksAboutEdits reports whether a person is asked about edits.
func (f *libraryFlags) asksAboutEdits(env func(string) string) bool {
	return f.Edit == "ask" && f.Address(env) != ""
}
