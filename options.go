package satchel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
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
	commands   *run.Policy
	text       processors.OverviewText
	guidance   *string
	renderer   func([]core.Skill) string
	search     SearchMode
	lifecycle  bool
	references tools.References
	mentions   Mentions
	activation Activation
	suggested  int
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

// WithSkillFS adds the skills of any file system, such as an embedded one. Locations
// and diagnostics call it by its name.
func WithSkillFS(name string, fsys fs.FS) Option {
	return func(s *settings) error {
		if fsys == nil {
			return fmt.Errorf("%w: WithSkillFS %q: nil file system", ErrOption, name)
		}
		s.roots = append(s.roots, catalog.FS(name, fsys))
		return nil
	}
}

// WithSkillRoots adds places of skills of any kind: catalog.Dir, catalog.FS,
// catalog.Plugin, catalog.From, catalog.Discover.
func WithSkillRoots(roots ...catalog.Root) Option {
	return func(s *settings) error {
		s.roots = append(s.roots, roots...)
		return nil
	}
}

// WithReading sets how the places of WithSkillDirs, WithSkillFS and WithSkillRoots are
// read: strictness, sizes, depth, trust, collisions of names. The default is lenient.
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

// Audience says which skills somebody sees. What Allow does not allow exists for them
// in no overview, load, read, suggestion or error. Who owns a name is decided among
// the skills that it allows, so that none that they do not see takes a name from
// them.
type Audience struct {
	// Key names the audience. Sessions with the same key share an overview, so
	// Allow must answer alike for all of them for as long as the skills stay the
	// same: put a version into the key where rights change.
	Key string
	// Allow is asked about each skill, by the name that its front matter spells.
	// Nil allows all.
	Allow func(core.Skill) bool
}

// WithAudience asks a function of the host for the audience of each agent of each
// session. It is asked when a turn begins, and after a restart. A skill that is not
// allowed any more is unloaded then, its texts and staged files are removed, and the
// session is told. An audience with Allow and an empty Key is an error of
// [Runtime.Prepare].
func WithAudience(audience func(ctx context.Context, key core.SessionKey) Audience) Option {
	return func(s *settings) error {
		if audience == nil {
			return fmt.Errorf("%w: WithAudience: nil", ErrOption)
		}
		s.audience = audience
		return nil
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
	return func(s *settings) error {
		if p > processors.InSystem {
			return fmt.Errorf("%w: WithPlacement: %d", ErrOption, p)
		}
		s.placement, s.placed = p, true
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
// used skill; see [WithVictim].
func WithMaxLoaded(n int) Option {
	return func(s *settings) error {
		if n < 0 {
			return fmt.Errorf("%w: WithMaxLoaded: %d", ErrOption, n)
		}
		s.max = n
		return nil
	}
}

// WithVictim chooses which skill is unloaded when one more is loaded than
// [WithMaxLoaded] allows. The default, also for nil, is the least recently used
// one.
func WithVictim(victim loadmode.Victim) Option {
	return func(s *settings) error {
		s.victim = victim
		return nil
	}
}

// WithContentBudget bounds the text of skills that an agent has in view, in estimated
// tokens; 0 is no bound. The default is 10,000 and 64,000. A call that brings more than
// warn into view says so in its answer, and core.ContentBudget reports it. A call that
// would bring more than max into view first clears texts of ended loads, which load mode
// Adaptive or a cache policy has left there; if that is not enough it changes nothing,
// and its answer says what would be in view.
func WithContentBudget(warn, max int) Option {
	return func(s *settings) error {
		if warn < 0 || max < 0 {
			return fmt.Errorf("%w: WithContentBudget: %d, %d", ErrOption, warn, max)
		}
		s.budget = tools.Budget{Warn: warn, Max: max}
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

// WithVocabulary offers the tools of another vocabulary, with their rules, in place of
// those of the profile; of [WithProfile] only tools.KnowledgeOnly counts, with which
// nothing runs. Where [WithPlacement] says nothing, the vocabulary says where loaded
// content goes.
func WithVocabulary(v tools.Vocabulary) Option {
	return func(s *settings) error {
		if v.Loads() == "" {
			return fmt.Errorf("%w: WithVocabulary: %q has no tool that loads skills", ErrOption, v.Name)
		}
		s.vocabulary = &v
		return nil
	}
}

// WithOfferedTools offers the model those of Satchel's tools that are named,
// instead of a profile. A set that cannot work, such as skill_read without
// skill_load, is an error of New.
func WithOfferedTools(names ...string) Option {
	return func(s *settings) error {
		s.tools = append([]string{}, names...)
		return nil
	}
}

// Runner says where commands of skills run and where their files go. Its zero value
// works; see [WithRunner].
type Runner = run.Runner

// WithRunner sets how skill_run, and skill_exec with its three companions, run
// commands. The runtime makes what is nil, by the first command, and closes it: the
// sandbox of executor/sandbox, workspaces in a directory for temporary files, and
// artifacts in memory. Where commands cannot run New logs it at Warn with what to
// change ([Runtime.Ready] returns it), and the model is told to do without. Commands run
// unconfined only with an executor of executor/local.
func WithRunner(r Runner) Option {
	return func(s *settings) error {
		s.runner = &r
		return nil
	}
}

// WithCommandsFromEnv restricts the commands by the variables
// SATCHEL_RUN_ALLOWED_COMMANDS and SATCHEL_RUN_DENIED_COMMANDS, names separated by
// commas or white space, in place of the runner's Policy. Where neither is set,
// that stays. One that is set and names no command is an error.
func WithCommandsFromEnv() Option {
	return func(s *settings) error {
		policy, err := run.PolicyFromEnv(os.Getenv)
		if err != nil {
			return fmt.Errorf("%w: WithCommandsFromEnv: %w", ErrOption, err)
		}
		if policy.Restricts() {
			s.commands = &policy
		}
		return nil
	}
}

// WithAnswerLimits bounds the answers of Satchel's tools: 64 KiB by default, of
// which 48 KiB, and 16 KiB for one file, are content that a run has collected. A
// call may ask for less, never for more.
func WithAnswerLimits(limits tools.Limits) Option {
	return func(s *settings) error {
		if min(limits.Answer, limits.InlineFile, limits.InlineTotal) < 0 {
			return fmt.Errorf("%w: WithAnswerLimits: %+v", ErrOption, limits)
		}
		s.limits = limits
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

// WithGuidance replaces the rules that follow the list of skills in the overview; ""
// leaves them out.
func WithGuidance(text string) Option {
	return func(s *settings) error {
		s.guidance = &text
		return nil
	}
}

// WithOverviewRenderer replaces the list of skills. The function gets the
// visible skills sorted by name and must give the same text for the same
// skills; "" adds nothing to the request. The rules of [WithGuidance] follow it, since
// without them a model takes the list for the skills; WithGuidance("") leaves them out.
func WithOverviewRenderer(render func(skills []core.Skill) string) Option {
	return func(s *settings) error {
		s.renderer = render
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
