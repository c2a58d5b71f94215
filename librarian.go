package satchel

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools/unified"
)

// LibraryOptions say how agents use a skill library.
type LibraryOptions struct {
	// Tenant is whose skills the runtime serves. One runtime serves one tenant.
	Tenant string
	// Actor says who acts in a session; its Tenant is replaced, and WithAudience says
	// which skills there are for it. His private skills are
	// among those that his agent sees. It is asked at each turn and each call, and with
	// WithCatalog at each call only. Nil is a viewer without a name, who may list, read
	// and run what is shared.
	Actor func(ctx context.Context, key core.SessionKey) (library.Actor, error)
	// Edit says what edits need; the default is unified.Ask.
	Edit unified.Mode
	// MaxEdits bounds the edits between two messages of the user; 0 is 30, and below 0
	// nothing does.
	MaxEdits int
}

// libraryRoot is the name of the catalog's root that shows the shared skills of a
// library.
const libraryRoot = "library"

// standardEdits is the default of LibraryOptions.MaxEdits.
const standardEdits = 30

// WithLibrary gives agents the skills of a library: what is shared in the tenant, and
// the skills of the library's plugins, come after the skills of other places. Those who
// may edit do so by skill_update, or by the vocabulary of package unified. The host
// closes the library's store.
func WithLibrary(l *library.Library, o LibraryOptions) Option {
	return func(s *settings) error {
		if l == nil || o.Edit > unified.Never {
			return fmt.Errorf("%w: WithLibrary: no library, or an unknown mode of edits", ErrOption)
		}
		if s.offer.Library != nil {
			return fmt.Errorf("%w: WithLibrary: one runtime has one library", ErrOption)
		}
		actor := o.Actor
		if actor == nil {
			actor = func(context.Context, core.SessionKey) (library.Actor, error) { return library.Actor{}, nil }
		}
		if o.MaxEdits == 0 {
			o.MaxEdits = standardEdits
		}
		if s.source = l.Source(o.Tenant); o.Actor != nil {
			s.source = l.SourceOfAll(o.Tenant)
		}
		s.offer.Library = &unified.Desk{
			Library: l, Edit: o.Edit, MaxEdits: o.MaxEdits, Root: libraryRoot,
			Actor: func(ctx context.Context, key core.SessionKey) (library.Actor, error) {
				a, err := actor(ctx, key)
				a.Tenant, a.Agent, a.Session, a.Allow = o.Tenant, key.Agent, key.Session, nil
				return a, err
			},
		}
		return nil
	}
}

// addLibrary adds the skills of the library to those of other places.
func (s *settings) addLibrary() {
	if s.offer.Library == nil {
		return
	}
	s.offer.Library.Failed = func(ctx context.Context, err error) {
		s.logger.ErrorContext(ctx, "the skill library does not answer", "error", err)
	}
	if among := s.audience; among != nil {
		s.offer.Library.Audience = func(ctx context.Context, key core.SessionKey) (func(core.Skill) bool, error) {
			_, allow, err := among(ctx, key)
			return allow, err
		}
	}
	if s.shared == nil {
		s.roots = append(s.roots, catalog.From(libraryRoot, s.source).In(core.ScopeUser))
		s.audience = call.Readers(s.offer.Library, s.audience, s.logger)
	}
}
