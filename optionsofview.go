package satchel

import (
	"cmp"
	"math"

	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// WithOverview sets how requests list the skills.
func WithOverview(o Overview) Option {
	wrong := cmp.Or(
		errorIf(o.Tokens < -1, "Tokens: %d: use -1 for no limit, or more", o.Tokens),
		errorIf(o.Format > processors.Lines, "Format: %d: use a constant of package processors", o.Format),
		errorIf(o.Search > SearchOff, "Search: %d: use SearchAuto, SearchOn or SearchOff", o.Search),
		errorIf(o.Needs > Hide, "Needs: %d: use Tell or Hide", o.Needs),
		errorIf(o.References > tools.ReferencesInline, "References: %d: use a constant of package tools", o.References),
		errorIf(o.NoGuidance && o.Guidance != "", "Guidance and NoGuidance exclude each other"),
	)
	maxTokens := o.Tokens
	if maxTokens < 0 {
		maxTokens = math.MaxInt32
	}
	return single("WithOverview", wrong, func(s *config) {
		s.overview = o
		s.choices.Text = processors.OverviewText{Format: o.Format, Tokens: maxTokens, Location: o.Locations, Pinned: o.Pinned, Ranked: o.Ranked}
		s.choices.Renderer = o.Render
		if o.NoGuidance || o.Guidance != "" {
			s.choices.Guidance = &o.Guidance
		}
		if o.Search != SearchAuto {
			on := o.Search == SearchOn
			s.choices.Search = &on
		}
	})
}

// WithLoading sets how long skills stay loaded, and where their content goes.
func WithLoading(l Loading) Option {
	return single("WithLoading", l.check(), func(s *config) { s.loading = l })
}
