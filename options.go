package satchel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/turn"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// Option configures a [Runtime]. The order of options does not matter. An option that cannot
// work is an error of [New]. So is one that is passed twice, unless its comment says that it
// adds up.
type Option func(*settings) error

// ErrOption reports an option with a value that cannot work.
var ErrOption = errors.New("invalid option")

// Options returns an option that applies all of opts.
func Options(opts ...Option) Option {
	return func(s *settings) error {
		for _, o := range opts {
			if o == nil {
				continue
			}
			if err := o(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// option returns the option of that name. It applies set, or fails with wrong if that is not
// nil.
func option(name string, wrong error, set func(*settings)) Option {
	return func(s *settings) error {
		if wrong != nil {
			return fmt.Errorf("%w: %s: %w", ErrOption, name, wrong)
		}
		set(s)
		return nil
	}
}

// single returns an option that may be given once.
func single(name string, wrong error, set func(*settings)) Option {
	return func(s *settings) error {
		if s.given[name] {
			return fmt.Errorf("%w: %s is given twice", ErrOption, name)
		}
		s.given[name] = true
		return option(name, wrong, set)(s)
	}
}

// settings is what the options of a runtime say.
type settings struct {
	given map[string]bool // the names of options that were given

	roots      []source.Root
	reading    []catalog.Option // of roots
	shared     *catalog.Catalog
	store      session.Store
	overview   Overview
	loading    Loading
	budget     tools.Budget
	limits     tools.Limits
	activation turn.Activation
	guarded    bool
	onBreak    []func(processors.PrefixBreak)
	choices    call.Choices
	extensions []extension
	sources    []catalog.Source // of extensions
	activates  map[string][]string
	events     func(context.Context, core.Event)
	lifecycle  bool
	gate       func(context.Context, core.SessionKey, core.ToolCall) core.Decision
	judge      judging.Judge
	tooling    []permission.Tool
	approver   core.Approver
	// audience returns the skills that an agent sees by a key that agents have in common who see
	// the same. It is nil, or returns no function, where they see all.
	audience func(context.Context, core.SessionKey) (key string, allow func(core.Skill) bool, err error)
	logger   *slog.Logger
}

// WithStore sets where the state of sessions is kept. The default is a
// session.Memory that only this runtime uses.
func WithStore(store session.Store) Option {
	return single("WithStore", failsIf(store == nil, "nil"), func(s *settings) { s.store = store })
}

// WithEvents reports events to a function of the host. It runs on the goroutine of
// the call and must not block. Events of a command that goes on between calls come
// from another goroutine. more adds kinds that are not reported by default, one for
// every skill of the catalog: core.SkillDiscovered and core.SkillRegistered.
func WithEvents(hook func(context.Context, core.Event), more ...core.EventKind) Option {
	return single("WithEvents", nil, func(s *settings) {
		s.events = hook
		s.lifecycle = slices.Contains(more, core.SkillDiscovered) || slices.Contains(more, core.SkillRegistered)
	})
}

// WithGate lets a function of the host decide on every tool call of its agent,
// before the lists of skills do. They may still deny a call that it does not deny.
func WithGate(gate func(context.Context, core.SessionKey, core.ToolCall) core.Decision) Option {
	return single("WithGate", nil, func(s *settings) { s.gate = gate })
}

// WithLogger sets the log. The default passes warnings and errors to slog.Default.
func WithLogger(logger *slog.Logger) Option {
	return single("WithLogger", failsIf(logger == nil, "nil"), func(s *settings) { s.logger = logger })
}

// WithPrefixGuard watches, for each agent of each session, whether a request begins with the
// one before it, as a provider's prompt cache needs it. A break is logged as a warning with
// its cause and the tokens that it costs, and reported as core.PrefixBroken. The functions get
// it too, and run on the goroutine of the call; processors.FailTest is one for tests.
// processors.PrefixBreak says what the tokens are. The guard sees the messages, and the tools
// if the host passes them. The adapters do, also those of an option of the call. It holds the
// last request of each of the 1,000 agents that called last.
func WithPrefixGuard(onBreak ...func(processors.PrefixBreak)) Option {
	return single("WithPrefixGuard", nil, func(s *settings) { s.guarded, s.onBreak = true, onBreak })
}
