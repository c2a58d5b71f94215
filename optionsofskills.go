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
	"github.com/satchel-go/satchel/internal/engine/turn"
)

// WithSkillDirs adds directories of skills; a directory may also be a skill itself. If two
// skills have the same name, the one of the earlier place gets it. Several options add up.
func WithSkillDirs(dirs ...string) Option {
	var roots []source.Root
	for _, d := range dirs {
		roots = append(roots, source.Dir(d))
	}
	return option("WithSkillDirs", errorIf(slices.Contains(dirs, ""), "a path is empty: name a directory"), func(s *config) { s.roots = append(s.roots, roots...) })
}

// WithSkillFS adds the skills of any file system, such as an embedded one. name is what
// locations and diagnostics call it. Several options add up.
func WithSkillFS(name string, fsys fs.FS) Option {
	return option("WithSkillFS", errorIf(fsys == nil, "%q: the file system is nil", name), func(s *config) {
		s.roots = append(s.roots, source.FS(name, fsys))
	})
}

// WithSkillRoots adds places of skills of any kind: source.Dir, source.FS, source.Plugin,
// source.Archive, source.From, source.Discover. opts say how all places, those of other options
// too, are read, watched, searched and trusted. Several options add up.
func WithSkillRoots(roots []source.Root, opts ...catalog.Option) Option {
	return option("WithSkillRoots", nil, func(s *config) {
		s.roots, s.catalogOptions = append(s.roots, roots...), append(s.catalogOptions, opts...)
	})
}

// WithCatalog uses a catalog that the host has opened. The host closes it.
func WithCatalog(c *catalog.Catalog) Option {
	return single("WithCatalog", errorIf(c == nil, "the value is nil"), func(s *config) { s.hostCatalog = c })
}

// WithAudience sets the function that returns the audience of each agent of each session. The
// runtime calls it when a turn begins, after a restart, and at each call of the tools of
// extensions, which the audience also limits. If a loaded skill is no longer allowed, the
// runtime unloads it, removes its texts and staged files, and tells the model so in a note. An
// audience with Allow and an empty Key is an error of [Runtime.Prepare]. Several options add
// up: every audience must allow a skill.
func WithAudience(audience func(ctx context.Context, key core.SessionKey) Audience) Option {
	return option("WithAudience", errorIf(audience == nil, "the value is nil"), func(s *config) { s.addAudience(audience) })
}

// addAudience adds an audience. A skill must be allowed by it and by those that s has.
func (s *config) addAudience(audience func(ctx context.Context, key core.SessionKey) Audience) {
	earlier := s.audience
	s.audience = func(ctx context.Context, key core.SessionKey) (name string, allow func(core.Skill) bool, err error) {
		if earlier != nil {
			if name, allow, err = earlier(ctx, key); err != nil {
				return "", nil, err
			}
		}
		a := audience(ctx, key)
		if a.Allow != nil && a.Key == "" {
			return "", nil, fmt.Errorf("session %q: %w", key.Session, errAudience)
		}
		return joinKeys(name, a.Key), joinAllow(allow, a.Allow), nil
	}
}

// joinKeys returns one key for two. Different pairs have different keys.
func joinKeys(a, b string) string {
	if a == "" || b == "" {
		return cmp.Or(a, b)
	}
	return fmt.Sprintf("%d:%s%s", len(a), a, b)
}

// joinAllow returns a function that allows the skills that both allow. Nil allows all.
func joinAllow(a, b func(core.Skill) bool) func(core.Skill) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(skill core.Skill) bool { return a(skill) && b(skill) }
}

// WithActivation loads or suggests the skills that a user's message names or is likely to mean.
func WithActivation(a Activation) Option {
	wrong := cmp.Or(
		errorIf(a.Mentions > Dollar|Slash|Words, "Mentions: %d: use Dollar, Slash, Words or several of them", a.Mentions),
		errorIf(a.Suggest && a.Load, "Suggest and Load exclude each other"),
		errorIf(a.Most < 0, "Most: %d: use 1 or more", a.Most),
	)
	return single("WithActivation", wrong, func(s *config) {
		s.activation = turn.Activation{}
		if a.Suggest || a.Load {
			s.activation = turn.Suggesting(a.Most)
		}
		s.activation.LoadFirst = a.Load
		s.activation.Dollar, s.activation.Slash = a.Mentions&Dollar != 0, a.Mentions&Slash != 0
		s.activation.Words = s.activation.Words || a.Mentions&Words != 0
	})
}
