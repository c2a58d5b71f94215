package satchel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// Option configures a [Runtime]. An option that cannot work is an error of New.
type Option func(*settings) error

// ErrOption reports an option with a value that cannot work.
var ErrOption = errors.New("invalid option")

type settings struct {
	roots      []catalog.Root
	reading    []catalog.Option
	shared     *catalog.Catalog
	store      session.Store
	mode       loadmode.Mode
	placement  processors.Placement
	summary    processors.SummaryRule
	max        int
	victim     loadmode.Victim
	policy     loadmode.CachePolicy
	guarded    bool
	onBreak    []func(processors.PrefixBreak)
	profile    tools.Profile
	tools      []string
	operations []tools.Operation
	runner     *tools.Runner
	text       processors.OverviewText
	guidance   *string
	renderer   func([]core.Skill) string
	events     func(context.Context, core.Event)
	gate       func(context.Context, core.SessionKey, core.ToolCall) core.Decision
	judge      permission.Judge
	tooling    []permission.Tool
	approver   core.Approver
	logger     *slog.Logger
}

func defaults() settings {
	return settings{
		store:   session.NewMemory(),
		max:     loadmode.DefaultMax,
		profile: tools.Full,
		logger:  slog.New(slog.DiscardHandler),
	}
}

// WithSkillDirs adds directories of skills; a directory may also be a skill
// itself. Where two skills have one name, the earlier place wins.
func WithSkillDirs(dirs ...string) Option {
	return func(s *settings) error {
		for _, d := range dirs {
			if d == "" {
				return fmt.Errorf("%w: WithSkillDirs: empty path", ErrOption)
			}
			s.roots = append(s.roots, catalog.Dir(d))
		}
		return nil
	}
}

// WithSkillFS adds the skills of any file system, such as an embedded one. The
// name stands for it in locations and diagnostics.
func WithSkillFS(name string, fsys fs.FS) Option {
	return func(s *settings) error {
		if fsys == nil {
			return fmt.Errorf("%w: WithSkillFS %q: nil file system", ErrOption, name)
		}
		s.roots = append(s.roots, catalog.FS(name, fsys))
		return nil
	}
}

// WithReading sets how the places of WithSkillDirs and WithSkillFS are read:
// strictness, sizes, depth. The default is lenient.
func WithReading(opts ...catalog.Option) Option {
	return func(s *settings) error {
		s.reading = append(s.reading, opts...)
		return nil
	}
}

// WithCatalog uses a catalog that the host opened, and closes, itself.
func WithCatalog(c *catalog.Catalog) Option {
	return func(s *settings) error {
		if c == nil {
			return fmt.Errorf("%w: WithCatalog: nil", ErrOption)
		}
		s.shared = c
		return nil
	}
}

// WithStore sets where the state of sessions is kept. The default is a
// session.Memory of the runtime's own.
func WithStore(store session.Store) Option {
	return func(s *settings) error {
		if store == nil {
			return fmt.Errorf("%w: WithStore: nil", ErrOption)
		}
		s.store = store
		return nil
	}
}

// WithLoadMode sets how long loads last. The default is loadmode.Turn.
func WithLoadMode(mode loadmode.Mode) Option {
	return func(s *settings) error {
		if !mode.Valid() {
			return fmt.Errorf("%w: WithLoadMode: %w %v", ErrOption, loadmode.ErrMode, mode)
		}
		s.mode = mode
		return nil
	}
}

// WithPlacement sets where loaded content goes. The default is
// processors.InToolResult.
func WithPlacement(p processors.Placement) Option {
	return func(s *settings) error {
		if p > processors.InSystem {
			return fmt.Errorf("%w: WithPlacement: %d", ErrOption, p)
		}
		s.placement = p
		return nil
	}
}

// WithSummaryRule sets what happens to loaded content whose message is missing
// from a request marked by [WithSummary]. The default is
// processors.SummaryAuto.
func WithSummaryRule(rule processors.SummaryRule) Option {
	return func(s *settings) error {
		if rule > processors.SummarySkip {
			return fmt.Errorf("%w: WithSummaryRule: %d", ErrOption, rule)
		}
		s.summary = rule
		return nil
	}
}

// WithMaxLoaded caps how many skills an agent has loaded at once; 0 is no cap.
// The default is loadmode.DefaultMax. One load more unloads the least recently
// used skill, or the one that victim chooses if it is not nil.
func WithMaxLoaded(n int, victim ...loadmode.Victim) Option {
	return func(s *settings) error {
		if n < 0 || len(victim) > 1 {
			return fmt.Errorf("%w: WithMaxLoaded: %d with %d victim hooks", ErrOption, n, len(victim))
		}
		s.max = n
		if len(victim) == 1 {
			s.victim = victim[0]
		}
		return nil
	}
}

// WithProfile sets which tools are offered. The default is tools.Full.
func WithProfile(p tools.Profile) Option {
	return func(s *settings) error {
		s.profile = p
		_, err := p.Names()
		return err
	}
}

// WithTools offers the named tools instead of a profile. A set that cannot
// work, such as skill_read without skill_load, is an error of New.
func WithTools(names ...string) Option {
	return func(s *settings) error {
		s.tools = append([]string{}, names...)
		return nil
	}
}

// WithRunner sets how skill_run, and skill_exec with its three companions, run
// commands. What is nil is made for the runtime, by the first command, and
// closed with it: an executor.Sandbox, workspaces in a directory for temporary
// files, artifacts in memory. Where there is no sandbox the calls are answered
// with what to change; commands run unconfined only with an executor.Local.
func WithRunner(r tools.Runner) Option {
	return func(s *settings) error {
		s.runner = &r
		return nil
	}
}

// WithOperations offers further tools beside those of the profile.
func WithOperations(operations ...tools.Operation) Option {
	return func(s *settings) error {
		s.operations = append(s.operations, operations...)
		return nil
	}
}

// WithOverview sets how the overview lists the skills and how many tokens it
// may take. Its Guidance, if not empty, replaces the default rules.
func WithOverview(text processors.OverviewText) Option {
	return func(s *settings) error {
		if text.Tokens < 0 || text.Format > processors.Lines {
			return fmt.Errorf("%w: WithOverview: %+v", ErrOption, text)
		}
		s.text = text
		return nil
	}
}

// WithGuidance replaces the rules that follow the list of skills; "" leaves
// them out.
func WithGuidance(text string) Option {
	return func(s *settings) error {
		s.guidance = &text
		return nil
	}
}

// WithOverviewRenderer replaces the whole overview. The function gets the
// visible skills sorted by name and must give the same text for the same
// skills; "" adds nothing to the request.
func WithOverviewRenderer(render func(skills []core.Skill) string) Option {
	return func(s *settings) error {
		s.renderer = render
		return nil
	}
}

// WithEventHook reports what happens to a function of the host. It runs on the
// goroutine of the call and must not block. What a command does that goes on
// between calls is reported from a goroutine of its own.
func WithEventHook(hook func(context.Context, core.Event)) Option {
	return func(s *settings) error {
		s.events = hook
		return nil
	}
}

// WithGate lets a function of the host decide on every tool call of its agent,
// before the lists of skills do. What it does not deny, they still may.
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
