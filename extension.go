package satchel

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// WithExtension adds an extension, which another module implements. New calls extend once,
// after it has applied all options. name is that of the module's own option, such as
// "library.With": errors contain it, and a second extension with the same name is an error of
// New.
func WithExtension(name string, extend func(ExtensionHost) (Extension, error)) Option {
	return single(name, errorIf(extend == nil, "the value is nil"), func(s *config) {
		s.extensions = append(s.extensions, extension{name, extend})
	})
}

// addExtensions calls the extensions and adds their results to s. Each of them gets the
// audience of the host, without those of other extensions.
func (s *config) addExtensions() error {
	host := ExtensionHost{Logger: s.logger, HasCatalog: s.hostCatalog != nil, HasVocabulary: s.choices.Vocabulary != nil}
	if hostAudience := s.audience; hostAudience != nil {
		host.Audience = func(ctx context.Context, key core.SessionKey) (Audience, error) {
			name, allow, err := hostAudience(ctx, key)
			return Audience{Key: name, Allow: allow}, err
		}
	}
	for _, e := range s.extensions {
		x, err := e.extend(host)
		if err == nil && x.Source != nil && host.HasCatalog {
			err = errors.New("WithCatalog excludes a source of skills")
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrOption, e.name, err)
		}
		if x.Source != nil {
			s.roots = append(s.roots, source.From(x.Root, x.Source).In(core.ScopeUser))
			s.extraSources = append(s.extraSources, x.Source)
		}
		if x.Audience != nil {
			s.addAudience(x.Audience)
		}
		s.choices.Extra = append(s.choices.Extra, x.Operations...)
		s.choices.Omit = append(s.choices.Omit, x.Omit...)
		if x.Bind != nil {
			s.choices.Binds = append(s.choices.Binds, x.Bind)
		}
	}
	return nil
}
