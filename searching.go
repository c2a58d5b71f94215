package satchel

import (
	"context"
	"fmt"
	"slices"

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

// inBackground calls f and returns a function that ends it and waits for it.
func inBackground(f func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f(ctx) // the first search will meet the same error
	}()
	return func() error {
		cancel()
		<-ended
		return nil
	}
}
