package satchel

import (
	"context"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/unified"
)

// LibraryOptions say how agents use a skill library.
type LibraryOptions struct {
	// Tenant is whose skills the runtime serves. One runtime serves one tenant.
	Tenant string
	// Actor says who acts in a session; its Tenant is replaced. His private skills are
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
		if s.library != nil {
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
		s.library = &unified.Desk{
			Library: l, Edit: o.Edit, MaxEdits: o.MaxEdits, Root: libraryRoot,
			Actor: func(ctx context.Context, key core.SessionKey) (library.Actor, error) {
				a, err := actor(ctx, key)
				a.Tenant, a.Agent, a.Session = o.Tenant, key.Agent, key.Session
				return a, err
			},
		}
		return nil
	}
}

// listsSkills reports whether requests list the skills.
func (s *settings) listsSkills() bool { return s.vocabulary == nil || !s.vocabulary.Unlisted }

// stock applies the library, and a vocabulary that lists no skills, to the other
// settings.
func (s *settings) stock() {
	if !s.listsSkills() {
		guidance, none := s.vocabulary.Guidance, ""
		s.renderer, s.guidance = func([]core.Skill) string { return guidance }, &none
		s.search = SearchOff
	}
	if s.library == nil {
		return
	}
	s.library.Failed = func(ctx context.Context, err error) {
		s.logger.ErrorContext(ctx, "the skill library does not answer", "error", err)
	}
	if s.shared == nil {
		s.roots = append(s.roots, catalog.From(libraryRoot, s.source).In(core.ScopeUser))
		s.audience = s.readers(s.audience)
	}
	switch {
	case s.library.Edit != unified.Never && s.vocabulary == nil:
		s.operations = append(s.operations, unified.Update("skill_update"))
	case s.library.Edit == unified.Never && s.vocabulary != nil:
		v := *s.vocabulary
		v.Operations = slices.DeleteFunc(slices.Clone(v.Operations), func(o tools.Operation) bool { return o.Name == "updateSkill" })
		s.vocabulary = &v
	}
}

// readers narrows an audience to those skills of the library that the actor is shown.
// Those who own nothing share a key.
func (s *settings) readers(among func(context.Context, core.SessionKey) Audience) func(context.Context, core.SessionKey) Audience {
	d := s.library
	return func(ctx context.Context, key core.SessionKey) Audience {
		var a Audience
		if among != nil {
			if a = among(ctx, key); a.Allow != nil && a.Key == "" {
				return a // which is an error
			}
		}
		actor, err := d.Actor(ctx, key)
		if err != nil { // a stranger, until it is known who acts
			s.logger.WarnContext(ctx, "nobody says who acts, so private skills are not shown", "error", err)
			actor = library.Actor{Tenant: actor.Tenant}
		}
		who := "anybody"
		if d.Library.Separate(actor) {
			who = fmt.Sprintf("%q %q %q", actor.Subject, actor.Agent, actor.Roles)
		}
		allowed := a.Allow
		return Audience{Key: fmt.Sprintf("%q %s", a.Key, who), Allow: func(skill core.Skill) bool {
			return (allowed == nil || allowed(skill)) && (skill.Source != libraryRoot || d.Library.Shows(actor, skill.ID))
		}}
	}
}
