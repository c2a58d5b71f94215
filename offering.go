package satchel

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/background"
	"github.com/satchel-go/satchel/internal/offering"
	"github.com/satchel-go/satchel/internal/overview"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// Tools are the tools to offer the model, in a fixed order. They are constant
// for the life of the runtime and depend neither on what is loaded nor on the
// catalog: a session that began while there was no skill to see is offered none of
// them, as core.View says. The caller must not change the slice.
func (r *Runtime) Tools() []core.Tool { return r.offered }

// toolNames returns the names of the runtime's own tools.
func (r *Runtime) toolNames() []string {
	names := make([]string, 0, len(r.offered))
	for _, t := range r.offered {
		names = append(names, t.Name)
	}
	return names
}

// offer fixes the tools of the runtime, and the text of its overviews. Where the tools
// search the catalog, its index is built meanwhile.
func (r *Runtime) offer(offer *offering.Offer) error {
	r.text.Pinned = r.pinned
	text := r.text
	text.Guidance = r.rules(r.set)
	if r.searches(text, r.catalog.Snapshot().Visible()) {
		if !r.set.Has(tools.SearchName) {
			set, err := offer.Choose(tools.SearchName)
			if err != nil {
				return err
			}
			r.set = set
		}
		r.text.Search = tools.SearchName
		r.closers = append(r.closers, background.Do(func(ctx context.Context) {
			_ = r.catalog.Index(ctx) // the first search will meet the same error
		}))
	}
	r.offered, r.delivers, r.command = r.set.Tools(), r.set.Delivers(), offer.Command
	r.clearing.Delivers, r.bounds.Set = r.delivers, r.set
	r.bounds.Unloaded = r.runner != nil && r.runner.Unloaded
	text = r.text
	text.Guidance = r.rules(r.set)
	r.overviews = &overview.Overviews{
		Catalog: r.catalog, Text: text, Renderer: r.renderer, Unlisted: !r.listsSkills(),
		Owns:  func(tool string) bool { return r.set.Operation(tool) != nil },
		Store: r.stores.Of, Pin: r.stores.Pin, Rendered: func(whole bool, fit processors.Fit) {
			if whole {
				r.tell.Scanned(context.Background(), r.catalog.Snapshot())
			}
			r.tell.Cut(fit)
		},
	}
	r.tell.Scanned(context.Background(), r.catalog.Snapshot())
	return nil
}

// rules are those that follow the list of skills.
func (s *settings) rules(set *tools.Set) string {
	switch {
	case s.guidance != nil:
		return *s.guidance
	case s.text.Guidance != "":
		return s.text.Guidance
	case s.vocabulary != nil:
		rules := s.vocabulary.Guidance
		if set.Has(tools.SearchName) {
			rules += " " + tools.SearchGuidance
		}
		return rules
	}
	return set.Guidance()
}
