package satchel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/activation"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
	"github.com/satchel-go/satchel/tools/unified"
)

// Option configures a [Runtime]. An option that cannot work is an error of New.
type Option func(*settings) error

// ErrOption reports an option with a value that cannot work.
var ErrOption = errors.New("invalid option")

type settings struct {
	roots      []catalog.Root
	reading    []catalog.Option
	shared     *catalog.Catalog
	watch      *catalog.WatchOptions
	store      session.Store
	mode       loadmode.Mode
	placement  processors.Placement
	placed     bool
	vocabulary *tools.Vocabulary
	summary    processors.SummaryRule
	max        int
	limits     tools.Limits
	victim     loadmode.Victim
	budget     tools.Budget
	policy     loadmode.CachePolicy
	prices     loadmode.Prices
	modeGiven  bool
	guarded    bool
	onBreak    []func(processors.PrefixBreak)
	profile    tools.Profile
	tools      []string
	operations []tools.Operation
	library    *unified.Desk
	source     catalog.Source // of the library
	runner     *run.Runner
	once       bool
	commands   *run.Policy
	text       processors.OverviewText
	guidance   *string
	renderer   func([]core.Skill) string
	search     SearchMode
	lifecycle  bool
	references tools.References
	summarizer func(ctx context.Context, skill, body string) (string, error)
	activation activation.Activation
	activates  map[string][]string
	pinned     []string
	events     func(context.Context, core.Event)
	gate       func(context.Context, core.SessionKey, core.ToolCall) core.Decision
	judge      permission.Judge
	tooling    []permission.Tool
	approver   core.Approver
	free       []string
	audience   func(context.Context, core.SessionKey) Audience
	logger     *slog.Logger
}

func defaults() settings {
	return settings{
		store:   session.NewMemory(),
		mode:    loadmode.Adaptive,
		max:     loadmode.DefaultMax,
		budget:  tools.Budget{Warn: 10_000, Max: 64_000},
		prices:  loadmode.DefaultPrices(),
		profile: tools.Full,
		logger:  slog.New(slog.DiscardHandler),
	}
}

// WithStore sets where the state of sessions is kept. The default is a
// session.Memory that only this runtime uses.
func WithStore(store session.Store) Option {
	return func(s *settings) error {
		if store == nil {
			return fmt.Errorf("%w: WithStore: nil", ErrOption)
		}
		s.store = store
		return nil
	}
}

// WithEventHook reports events to a function of the host. It runs on the goroutine of
// the call and must not block. Events of a command that goes on between calls come
// from another goroutine.
func WithEventHook(hook func(context.Context, core.Event)) Option {
	return func(s *settings) error {
		s.events = hook
		return nil
	}
}

// WithGate lets a function of the host decide on every tool call of its agent,
// before the lists of skills do. They may still deny a call that it does not deny.
func WithGate(gate func(context.Context, core.SessionKey, core.ToolCall) core.Decision) Option {
	return func(s *settings) error {
		s.gate = gate
		return nil
	}
}

// WithLogger sets the log. The default discards.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) error {
		if logger == nil {
			return fmt.Errorf("%w: WithLogger: nil", ErrOption)
		}
		s.logger = logger
		return nil
	}
}
