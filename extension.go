package satchel

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// WithExtension adds what another module makes for a runtime. New calls extend once, after
// it has read all options. name is that of the module's own option, such as "library.With":
// errors name it, and a second extension with the same name is an error of New.
func WithExtension(name string, extend func(ExtensionHost) (Extension, error)) Option {
	return single(name, failsIf(extend == nil, "nil"), func(s *settings) {
		s.extensions = append(s.extensions, extension{name, extend})
	})
}

// addExtensions adds what the extensions make. Each gets the audience of the host alone.
func (s *settings) addExtensions() error {
	host := ExtensionHost{Logger: s.logger, HasCatalog: s.shared != nil, HasVocabulary: s.choices.Vocabulary != nil}
	if among := s.audience; among != nil {
		host.Audience = func(ctx context.Context, key core.SessionKey) (Audience, error) {
			of, allow, err := among(ctx, key)
			return Audience{Key: of, Allow: allow}, err
		}
	}
	for _, e := range s.extensions {
		x, err := e.make(host)
		if err == nil && x.Source != nil && host.HasCatalog {
			err = errors.New("WithCatalog excludes a source of skills")
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrOption, e.name, err)
		}
		if x.Source != nil {
			s.roots = append(s.roots, source.From(x.Root, x.Source).In(core.ScopeUser))
			s.sources = append(s.sources, x.Source)
		}
		if x.Audience != nil {
			s.addAudience(x.Audience)
		}
		s.choices.Further = append(s.choices.Further, x.Operations...)
		s.choices.Omitted = append(s.choices.Omitted, x.Omit...)
		if x.Bind != nil {
			s.choices.Binds = append(s.choices.Binds, x.Bind)
		}
	}
	return nil
}
