package satchel

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// WithLoadMode sets how long loads last. The default is loadmode.Adaptive; see
// [WithPrices].
func WithLoadMode(mode loadmode.Mode) Option {
	return func(s *settings) error {
		if !mode.Valid() {
			return fmt.Errorf("%w: WithLoadMode: %w %v", ErrOption, loadmode.ErrMode, mode)
		}
		s.mode, s.modeGiven = mode, true
		return nil
	}
}

// WithPlacement sets where loaded content goes. The default is
// processors.InToolResult.
func WithPlacement(p processors.Placement) Option {
	return checked(p <= processors.InSystem, func(s *settings) { s.placement, s.placed = p, true }, "WithPlacement: %d", p)
}

// WithSummaryRule sets what happens to loaded content whose message is missing
// from a request marked by [WithSummary]. The default is
// processors.SummaryAuto.
func WithSummaryRule(rule processors.SummaryRule) Option {
	return checked(rule <= processors.SummarySkip, func(s *settings) { s.summary = rule }, "WithSummaryRule: %d", rule)
}

// WithMaxLoaded caps how many skills an agent has loaded at once; 0 is no cap.
// The default is loadmode.DefaultMax. One load more unloads the least recently
// used skill; see [WithVictim].
func WithMaxLoaded(n int) Option {
	return checked(n >= 0, func(s *settings) { s.max = n }, "WithMaxLoaded: %d", n)
}

// WithVictim chooses which skill is unloaded when one more is loaded than
// [WithMaxLoaded] allows. The default, also for nil, is the least recently used
// one.
func WithVictim(victim loadmode.Victim) Option {
	return func(s *settings) error { s.victim = victim; return nil }
}

// WithContentBudget bounds the text of skills that an agent has in view, in estimated
// tokens; 0 is no bound. The default is 10,000 and 64,000. A call that brings more than
// warn into view says so in its answer, and core.ContentBudget reports it. A call that
// would bring more than max into view first clears texts of ended loads, which load mode
// Adaptive or a cache policy has left there; if that is not enough it changes nothing,
// and its answer says what would be in view. A vocabulary that evicts, such as unified,
// first unloads other skills, and then docs and parts that came first.
func WithContentBudget(warn, max int) Option {
	budget := tools.Budget{Warn: warn, Max: max}
	return checked(min(warn, max) >= 0, func(s *settings) { s.budget = budget }, "WithContentBudget: %d, %d", warn, max)
}

// WithOverview sets how the overview lists the skills and how many tokens it
// may take. Its Guidance, if not empty, replaces the default rules.
func WithOverview(text processors.OverviewText) Option {
	return checked(text.Tokens >= 0 && text.Format <= processors.Lines, func(s *settings) { s.offer.Text = text }, "WithOverview: %+v", text)
}

// WithGuidance replaces the rules that follow the list of skills in the overview; ""
// leaves them out.
func WithGuidance(text string) Option {
	return func(s *settings) error { s.offer.Guidance = &text; return nil }
}

// WithOverviewRenderer replaces the list of skills. The function gets the
// visible skills sorted by name and must give the same text for the same
// skills; "" adds nothing to the request. The rules of [WithGuidance] follow it, since
// without them a model takes the list for the skills; WithGuidance("") leaves them out.
func WithOverviewRenderer(render func(skills []core.Skill) string) Option {
	return func(s *settings) error { s.offer.Renderer = render; return nil }
}

// WithSummarizer lets a function, such as a call of a model, write what [Runtime.Compact]
// puts in the place of a skill's body. Where it fails, or what it writes is blank or not
// shorter than the body, the outline of [processors.Outline] takes its place.
func WithSummarizer(f func(ctx context.Context, skill, body string) (string, error)) Option {
	return checked(f != nil, func(s *settings) { s.summarizer = f }, "WithSummarizer: nil")
}
