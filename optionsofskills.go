package satchel

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

// WithSkillDirs adds directories of skills; a directory may also be a skill
// itself. Where two skills have one name, the earlier place wins.
func WithSkillDirs(dirs ...string) Option {
	return func(s *settings) error {
		for _, d := range dirs {
			if d == "" {
				return fmt.Errorf("%w: WithSkillDirs: empty path", ErrOption)
			}
			s.roots = append(s.roots, catalog.Dir(d))
		}
		return nil
	}
}

// WithSkillFS adds the skills of any file system, such as an embedded one. Locations
// and diagnostics call it by its name.
func WithSkillFS(name string, fsys fs.FS) Option {
	return checked(fsys != nil, func(s *settings) {
		s.roots = append(s.roots, catalog.FS(name, fsys))
	}, "WithSkillFS %q: nil file system", name)
}

// WithSkillRoots adds places of skills of any kind: catalog.Dir, catalog.FS,
// catalog.Plugin, catalog.From, catalog.Discover.
func WithSkillRoots(roots ...catalog.Root) Option {
	return func(s *settings) error { s.roots = append(s.roots, roots...); return nil }
}

// WithReading sets how the places of WithSkillDirs, WithSkillFS and WithSkillRoots are
// read: strictness, sizes, depth, trust, collisions of names. The default is lenient.
func WithReading(opts ...catalog.Option) Option {
	return func(s *settings) error { s.reading = append(s.reading, opts...); return nil }
}

// WithCatalog uses a catalog that the host opened, and closes, itself.
func WithCatalog(c *catalog.Catalog) Option {
	return checked(c != nil, func(s *settings) { s.shared = c }, "WithCatalog: nil")
}

// WithWatch refreshes the skills when they change, as [catalog.Watch] says. Sessions
// are told of changes at their next user turn. [Runtime.Close] ends it.
func WithWatch(opts catalog.WatchOptions) Option {
	return func(s *settings) error { s.watch = &opts; return nil }
}

// WithAudience asks a function of the host for the audience of each agent of each
// session. It is asked when a turn begins, after a restart, and at each call of the tools
// of [WithLibrary], for which it holds too. A skill that is not
// allowed any more is unloaded then, its texts and staged files are removed, and the
// session is told. An audience with Allow and an empty Key is an error of
// [Runtime.Prepare].
func WithAudience(audience func(ctx context.Context, key core.SessionKey) Audience) Option {
	return checked(audience != nil, func(s *settings) {
		s.audience = func(ctx context.Context, key core.SessionKey) (string, func(core.Skill) bool, error) {
			a := audience(ctx, key)
			if a.Allow != nil && a.Key == "" {
				return "", nil, fmt.Errorf("session %q: %w", key.Session, ErrAudience)
			}
			return a.Key, a.Allow, nil
		}
	}, "WithAudience: nil")
}

// WithLifecycle reports every skill of the catalog as discovered and registered, when it
// is read and when it changes. The other stations of skills are always events.
func WithLifecycle() Option {
	return func(s *settings) error { s.lifecycle = true; return nil }
}

// WithMentions loads skills that the user names: with Dollar "$name" anywhere in a
// message, with Slash "/name" at the beginning of a line, both outside code. They are
// loads of that turn, in their order and up to the cap; skills that are hidden from the
// model can be named too. What no skill is called is left alone. The default is none.
func WithMentions(ways Mentions) Option {
	return checked(ways <= Dollar|Slash, func(s *settings) {
		s.activation.Dollar, s.activation.Slash = ways&Dollar != 0, ways&Slash != 0
	}, "WithMentions: %d", ways)
}

// WithActivation searches for the skills that each message of the user is likely to mean.
// Suggest names at most so many of them in that message, and LoadFirst loads the first, as
// a declared load. The default is neither; the model finds skills by itself.
func WithActivation(a Activation, most int) Option {
	return checked((a == Suggest || a == LoadFirst) && most >= 1, func(s *settings) {
		s.activation.Likely, s.activation.First = most, a == LoadFirst
	}, "WithActivation: %d, %d", a, most)
}

// WithToolActivation denies calls of the host's tools for as long as none of their skills
// is loaded, and says which skill to load. The tools that are offered stay the same.
// New refuses the names of Satchel's own tools.
func WithToolActivation(skills map[string][]string) Option {
	return func(s *settings) error {
		if s.activates == nil {
			s.activates = make(map[string][]string, len(skills))
		}
		for tool, names := range skills {
			if tool == "" || len(names) == 0 {
				return fmt.Errorf("%w: WithToolActivation: tool %q without a skill", ErrOption, tool)
			}
			s.activates[tool] = append(s.activates[tool], names...)
		}
		return nil
	}
}

// WithReferences says what becomes of the docs that the body of a skill names in links and
// code, when it is loaded: tools.ReferencesOff, the default, leaves them to the model,
// tools.ReferencesList lists them behind the body, and tools.ReferencesInline brings them
// with it, at most 16 docs and 6,000 tokens, and says which do not fit. These docs are
// selected docs like others.
func WithReferences(how tools.References) Option {
	return checked(how <= tools.ReferencesInline, func(s *settings) { s.references = how }, "WithReferences: %d", how)
}

// WithSearch says whether the model is offered skill_search, by which it finds skills
// that the overview has no room for. That is decided at New and holds for the life of the
// runtime. With [WithOfferedTools] or [WithOverviewRenderer], SearchAuto offers it only
// where it is named.
func WithSearch(mode SearchMode) Option {
	return checked(mode <= SearchOff, func(s *settings) {
		on := mode == SearchOn
		s.offer.Search = &on
		if mode == SearchAuto {
			s.offer.Search = nil
		}
	}, "WithSearch: %d", mode)
}

// Embedder makes vectors of texts for [WithEmbedder].
type Embedder = catalog.Embedder

// WithEmbedder lets the vectors of an embedder have a part in the order of what searches
// find, as [catalog.WithEmbedder] says. Function Embedder of each adapter makes one.
// Where it fails, searches go by words, and the event search.bywords says why. It has no
// effect on a catalog of the host's own ([WithCatalog]).
func WithEmbedder(id string, e Embedder) Option {
	return WithReading(catalog.WithEmbedder(id, e))
}

// WithPinned names skills whose descriptions the overview shows whole and before those of
// other skills, as far as there is room.
func WithPinned(names ...string) Option {
	return func(s *settings) error { s.pinned = append(s.pinned, names...); return nil }
}
