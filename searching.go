package satchel

import (
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// WithSearch says whether the model is offered skill_search, by which it finds skills
// that the overview has no room for. That is decided at New and holds for the life of the
// runtime. With [WithOfferedTools] or [WithOverviewRenderer], SearchAuto offers it only
// where it is named.
func WithSearch(mode SearchMode) Option {
	return func(s *settings) error {
		if mode > SearchOff {
			return fmt.Errorf("%w: WithSearch: %d", ErrOption, mode)
		}
		s.search = mode
		return nil
	}
}

// Embedder makes vectors of texts for [WithEmbedder].
type Embedder = catalog.Embedder

// WithEmbedder lets the vectors of an embedder have a part in the order of what searches
// find, as [catalog.WithEmbedder] says. The adapters make one of that of a framework.
// Where it fails, searches go by words, and the event search.bywords says why. It has no
// effect on a catalog of the host's own ([WithCatalog]).
func WithEmbedder(id string, e Embedder) Option {
	return WithReading(catalog.WithEmbedder(id, e))
}

// WithPinned names skills whose descriptions the overview shows whole and before those of
// other skills, as far as there is room.
func WithPinned(names ...string) Option {
	return func(s *settings) error {
		s.pinned = append(s.pinned, names...)
		return nil
	}
}

// searches reports whether skill_search is offered, where the overview that text writes
// would list these skills without it.
func (s *settings) searches(text processors.OverviewText, visible []core.Skill) bool {
	switch {
	case s.search == SearchOff:
		return false
	case s.search == SearchOn:
		return true
	case s.tools != nil:
		return slices.Contains(s.tools, tools.SearchName)
	case s.renderer != nil:
		return false
	}
	fit := text.Fit(visible)
	return fit.Bare+fit.Missing > 0
}
