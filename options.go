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
// work is an error of [New]. So is one that is passed twice, unless its comment says that
// several add up.
type Option func(*config) error

// ErrOption reports an option with a value that cannot work.
var ErrOption = errors.New("invalid option")

// Options returns an option that applies all of opts.
func Options(opts ...Option) Option {
	return func(s *config) error {
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

// option returns an option that applies set, or fails with the given name and error.
func option(name string, wrong error, set func(*config)) Option {
	return func(s *config) error {
		if wrong != nil {
			return fmt.Errorf("%w: %s: %w", ErrOption, name, wrong)
		}
		set(s)
		return nil
	}
}

// single returns an option like [option], which fails if the host passes it twice.
func single(name string, wrong error, set func(*config)) Option {
	return func(s *config) error {
		if s.passed[name] {
			return fmt.Errorf("%w: %s is given twice", ErrOption, name)
		}
		s.passed[name] = true
		return option(name, wrong, set)(s)
	}
}

// config holds the values of a runtime's options.
type config struct {
	passed map[string]bool // the names of single options that were passed

	roots          []source.Root
	catalogOptions []catalog.Option // of WithSkillRoots
	hostCatalog    *catalog.Catalog // of WithCatalog
	store          session.Store
	overview       Overview
	loading        Loading
	budget         tools.Budget
	limits         tools.Limits
	activation     turn.Activation
	guardsPrefix   bool
	onBreak        []func(processors.PrefixBreak)
	choices        call.Choices
	extensions     []extension
	extraSources   []catalog.Source // of extensions
	toolSkills     map[string][]string
	events         func(context.Context, core.Event)
	lifecycle      bool
	tracer         Tracer      // nil without a trace
	fork           *call.Forks // nil: no skill runs as an agent of its own
	gate           func(context.Context, core.SessionKey, core.ToolCall) core.Decision
	judge          judging.Judge
	hostTools      []permission.Tool
	approver       core.Approver
	// audience returns the key of an agent's audience and a function that reports whether it sees
	// a skill. allow is nil if the agent sees all skills. audience is nil if no option sets one.
	audience func(context.Context, core.SessionKey) (key string, allow func(core.Skill) bool, err error)
	logger   *slog.Logger
}

// WithStore sets the store for the state of sessions. The default is a session.Memory that only
// this runtime uses.
func WithStore(store session.Store) Option {
	return single("WithStore", errorIf(store == nil, "the value is nil"), func(s *config) { s.store = store })
}

// WithEvents reports events to a function of the host. The function runs on the goroutine of
// the call and must not block. Events of a command that continues between calls come from
// another goroutine. more adds the kinds core.SkillDiscovered and core.SkillRegistered. They
// are not reported by default, because there is one event for each skill of the catalog.
func WithEvents(hook func(context.Context, core.Event), more ...core.EventKind) Option {
	return single("WithEvents", nil, func(s *config) {
		s.events = hook
		s.lifecycle = slices.Contains(more, core.SkillDiscovered) || slices.Contains(more, core.SkillRegistered)
	})
}

// Tracer records what happens in a runtime. observe/trace has one that writes files. Its methods run on the
// goroutines of the calls, many at a time, and must not block. They may keep what they get.
type Tracer interface {
	// Event records an event, as the function of [WithEvents] gets it.
	Event(context.Context, core.Event)
	// Request records a request before the model gets it.
	Request(context.Context, core.ModelRequest)
	// Answer records the model's answer to a request, or why there is none.
	Answer(context.Context, core.ModelAnswer)
}

// WithTrace sets a tracer. Adapters then report each request and each answer.
func WithTrace(t Tracer) Option {
	return single("WithTrace", errorIf(t == nil, "the value is nil"), func(s *config) { s.tracer = t })
}

// hook returns the function that gets all events: that of the host, the tracer's, both or nil.
func (s *config) hook() func(context.Context, core.Event) {
	switch {
	case s.tracer == nil:
		return s.events
	case s.events == nil:
		return s.tracer.Event
	}
	return func(ctx context.Context, e core.Event) {
		s.tracer.Event(ctx, e)
		e.Prompt = ""
		s.events(ctx, e)
	}
}

// WithGate sets a function of the host that decides on every tool call of an agent, before the
// lists of skills do. A call that it does not deny may still be denied by the lists.
func WithGate(gate func(context.Context, core.SessionKey, core.ToolCall) core.Decision) Option {
	return single("WithGate", nil, func(s *config) { s.gate = gate })
}

// WithLogger sets the log. The default passes warnings and errors to slog.Default.
func WithLogger(logger *slog.Logger) Option {
	return single("WithLogger", errorIf(logger == nil, "the value is nil"), func(s *config) { s.logger = logger })
}

// WithPrefixGuard checks, for each agent of each session, that a request begins with the one
// before it, as a provider's prompt cache needs it. It logs a break as a warning with the cause
// and the tokens that the break costs ([processors.PrefixBreak]), and reports it as
// core.PrefixBroken. It also calls onBreak, on the goroutine of the call; [processors.FailTest]
// returns such a function for tests.
//
// The guard compares the messages, and the tools if the request has their definitions. The
// adapters pass them, including tools from options of the call. The guard holds the last
// request of each of the 1,000 agents that called last.
func WithPrefixGuard(onBreak ...func(processors.PrefixBreak)) Option {
	return single("WithPrefixGuard", nil, func(s *config) { s.guardsPrefix, s.onBreak = true, onBreak })
}
