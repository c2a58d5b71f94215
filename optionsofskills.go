package satchel

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// WithSkillDirs adds directories of skills; a directory may also be a skill
// itself. Where two skills have one name, the earlier place wins. The option adds up.
func WithSkillDirs(dirs ...string) Option {
	var roots []source.Root
	for _, d := range dirs {
		roots = append(roots, source.Dir(d))
	}
	return option("WithSkillDirs", failsIf(slices.Contains(dirs, ""), "empty path"), func(s *settings) { s.roots = append(s.roots, roots...) })
}

// WithSkillFS adds the skills of any file system, such as an embedded one. Locations
// and diagnostics call it by its name. The option adds up.
func WithSkillFS(name string, fsys fs.FS) Option {
	return option("WithSkillFS", failsIf(fsys == nil, "%q: nil file system", name), func(s *settings) {
		s.roots = append(s.roots, source.FS(name, fsys))
	})
}

// WithSkillRoots adds places of skills of any kind: source.Dir, source.FS, source.Plugin,
// source.Archive, source.From, source.Discover. opts set how all places are read, watched,
// searched and trusted, those of other options too. The option adds up.
func WithSkillRoots(roots []source.Root, opts ...catalog.Option) Option {
	return option("WithSkillRoots", nil, func(s *settings) {
		s.roots, s.reading = append(s.roots, roots...), append(s.reading, opts...)
	})
}

// WithCatalog uses a catalog that the host opened, and closes, itself.
func WithCatalog(c *catalog.Catalog) Option {
	return single("WithCatalog", failsIf(c == nil, "nil"), func(s *settings) { s.shared = c })
}

// WithAudience sets the function that returns the audience of each agent of each session. It
// is called when a turn begins, after a restart, and at each call of the tools of
// extensions, which the audience also limits. When a skill is not allowed any more, it is
// unloaded, its texts and staged files are removed, and the model gets a note. An audience
// with Allow and an empty Key is an error of [Runtime.Prepare]. The option adds up: every
// audience must allow a skill.
func WithAudience(audience func(ctx context.Context, key core.SessionKey) Audience) Option {
	return option("WithAudience", failsIf(audience == nil, "nil"), func(s *settings) { s.addAudience(audience) })
}

// addAudience narrows the audiences of sessions to what another function allows too.
func (s *settings) addAudience(audience func(ctx context.Context, key core.SessionKey) Audience) {
	among := s.audience
	s.audience = func(ctx context.Context, key core.SessionKey) (of string, allow func(core.Skill) bool, err error) {
		if among != nil {
			if of, allow, err = among(ctx, key); err != nil {
				return "", nil, err
			}
		}
		a := audience(ctx, key)
		if a.Allow != nil && a.Key == "" {
			return "", nil, fmt.Errorf("session %q: %w", key.Session, errAudience)
		}
		return bothKeys(of, a.Key), bothAllow(allow, a.Allow), nil
	}
}

// bothKeys returns a key that two pairs of keys have in common only if they are equal.
func bothKeys(a, b string) string {
	if a == "" || b == "" {
		return cmp.Or(a, b)
	}
	return fmt.Sprintf("%d:%s%s", len(a), a, b)
}

// bothAllow returns a function that allows what both allow; nil allows all.
func bothAllow(a, b func(core.Skill) bool) func(core.Skill) bool {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return func(skill core.Skill) bool { return a(skill) && b(skill) }
}

// standardSuggestions is the default of Activation.Most.
const standardSuggestions = 3

// WithActivation loads or suggests the skills that messages of users name or mean.
func WithActivation(a Activation) Option {
	wrong := cmp.Or(
		failsIf(a.Mentions > Dollar|Slash, "Mentions: %d: use Dollar, Slash or both", a.Mentions),
		failsIf(a.Suggest && a.Load, "Suggest and Load exclude each other"),
		failsIf(a.Most < 0, "Most: %d: use 1 or more", a.Most),
	)
	return single("WithActivation", wrong, func(s *settings) {
		s.activation.Dollar, s.activation.Slash = a.Mentions&Dollar != 0, a.Mentions&Slash != 0
		if s.activation.First = a.Load; a.Suggest || a.Load {
			s.activation.Likely = cmp.Or(a.Most, standardSuggestions)
		}
	})
}
