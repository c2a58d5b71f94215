package satchel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/activation"
	"github.com/satchel-go/satchel/internal/offering"
	"github.com/satchel-go/satchel/internal/warnlog"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// Option configures a [Runtime]. An option that cannot work is an error of New.
type Option func(*settings) error

// ErrOption reports an option with a value that cannot work.
var ErrOption = errors.New("invalid option")

// checked returns an option that sets what it is given, or fails where that cannot work:
// why says what it was given.
func checked(works bool, set func(*settings), why string, args ...any) Option {
	return func(s *settings) error {
		if !works {
			return fmt.Errorf("%w: %s", ErrOption, fmt.Sprintf(why, args...))
		}
		set(s)
		return nil
	}
}

type settings struct {
	roots      []catalog.Root
	reading    []catalog.Option
	shared     *catalog.Catalog
	watch      *catalog.WatchOptions
	store      session.Store
	mode       loadmode.Mode
	placement  processors.Placement
	placed     bool
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
	offer      offering.Offer
	source     catalog.Source // of the library
	once       bool
	commands   *run.Policy
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
	audience   offering.Audience
	logger     *slog.Logger
}

func defaults() settings {
	return settings{
		store:  session.NewMemory(),
		mode:   loadmode.Adaptive,
		max:    loadmode.DefaultMax,
		budget: tools.Budget{Warn: 10_000, Max: 64_000},
		prices: loadmode.DefaultPrices(),
		offer:  offering.Offer{Profile: tools.Full},
		logger: warnlog.New(),
	}
}

// WithStore sets where the state of sessions is kept. The default is a
// session.Memory that only this runtime uses.
func WithStore(store session.Store) Option {
	return checked(store != nil, func(s *settings) { s.store = store }, "WithStore: nil")
}

// WithEventHook reports events to a function of the host. It runs on the goroutine of
// the call and must not block. Events of a command that goes on between calls come
// from another goroutine.
func WithEventHook(hook func(context.Context, core.Event)) Option {
	return func(s *settings) error { s.events = hook; return nil }
}

// WithGate lets a function of the host decide on every tool call of its agent,
// before the lists of skills do. They may still deny a call that it does not deny.
func WithGate(gate func(context.Context, core.SessionKey, core.ToolCall) core.Decision) Option {
	return func(s *settings) error { s.gate = gate; return nil }
}

// WithLogger sets the log. The default passes warnings and errors to slog.Default.
func WithLogger(logger *slog.Logger) Option {
	return checked(logger != nil, func(s *settings) { s.logger = logger }, "WithLogger: nil")
}
