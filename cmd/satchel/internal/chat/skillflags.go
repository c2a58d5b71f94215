package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// SkillFlags are the flags about skills of every command that makes an agent.
type SkillFlags struct {
	places.SkillDirs  `embed:"" group:"Where skills are:"`
	places.EmbedFlags `embed:""`
	LoadMode          *loadmode.Mode   `group:"How long skills stay loaded:" placeholder:"adaptive|turn|once|session" help:"How long loaded skills last. adaptive: as turn, but their text stays in the prompt while clearing it costs more (default adaptive; session with --vocabulary runtime-spec)."`
	Prices            *loadmode.Prices `group:"How long skills stay loaded:" placeholder:"NAME|R,W,TTL" help:"What the prompt cache charges, for --load-mode adaptive: anthropic, deepseek, gemini, local, openai, or the prices of reading and writing and the TTL (default 0.1,1.25,5m)."`
	Placement         string           `group:"How long skills stay loaded:" enum:"auto,tool-result,system" default:"auto" placeholder:"PLACE" help:"Where loaded content goes: tool-result, system or auto (default ${default}: system with --vocabulary runtime-spec, else tool-result)."`
	Preload           []string         `group:"How long skills stay loaded:" placeholder:"NAME,…" help:"Skills whose texts follow the overview in every request, in this order. They stay loaded."`
	MaxLoaded         int              `group:"How long skills stay loaded:" default:"8" placeholder:"N" help:"How many skills may be loaded at a time (default ${default}); 0 is no limit."`
	Budget            *contentBudget   `group:"How long skills stay loaded:" name:"content-budget" placeholder:"WARN,MAX" help:"How many tokens of skill text may be in the prompt: above WARN the answer to a load or a read says so, above MAX it is refused. 0 is no limit; a single 0 lifts both (default 10000,64000)."`
	Profile           string           `group:"What the model is offered:" enum:"full,knowledge_only" default:"full" placeholder:"NAME" help:"Which skill tools the model is offered: ${enum} (default ${default})."`
	Search            string           `group:"What the model is offered:" enum:"auto,on,off" default:"auto" placeholder:"WHEN" help:"Whether the model is offered skill_search: auto (where the overview cannot describe every skill), on or off (default ${default})."`
	Vocabulary        string           `group:"What the model is offered:" enum:"default,runtime-spec,unified" default:"default" placeholder:"NAME" help:"The words of the skill tools: ${enum} (default ${default}); runtime-spec has skills_load, skills_unload, skills_read and skills_run_script, and loaded content after the system text; unified, for a library, has runSkill and updateSkill."`
	References        string           `group:"What the model is offered:" enum:"off,list,inline" default:"off" placeholder:"HOW" help:"Docs that the text of a skill names: list names them behind the text, inline brings them with it (default ${default})."`
	Needs             string           `group:"What the model is offered:" enum:"tell,hide" default:"tell" placeholder:"HOW" help:"Skills that need what is not here, such as a program: tell says so in the answer to a load, hide does not list them (default ${default})."`
	Compact           []string         `group:"When skills are loaded by themselves:" sep:"none" placeholder:"NAME" help:"A skill whose text gives way to its outline at the turn after the one that loaded it; may be repeated."`
	Lifecycle         bool             `group:"What the model is offered:" help:"Events of --json for the stations of skills, from discovered to completed."`
	Mentions          []string         `group:"When skills are loaded by themselves:" enum:"dollar,slash,words" placeholder:"HOW,…" help:"Skills that a prompt names are loaded: dollar ($$name anywhere), slash (/name at the beginning of a line), words (as in \"use the pdf skill\"; on with --activation), or several."`
	Activate          []string         `group:"When skills are loaded by themselves:" sep:"none" placeholder:"TOOL=SKILL" help:"Calls of TOOL are denied until SKILL is loaded; may be repeated."`
	Activation        string           `group:"When skills are loaded by themselves:" enum:"none,suggest,load" default:"none" placeholder:"HOW" help:"What becomes of skills that a prompt is likely to mean: suggest names them to the model, load loads the first (default ${default})."`
	Watch             bool             `group:"What the model is offered:" help:"Notice changes of skills when they are made, and not only when a turn begins."`
	// Carried holds skills that are part of the program, or is nil.
	Carried fs.FS `kong:"-"`
	// unlisted leaves the list of skills out of requests.
	unlisted bool
	// sees holds the option of --audience.
	sees []satchel.Option
}

var searchModes = map[string]satchel.SearchMode{"auto": satchel.SearchAuto, "on": satchel.SearchOn, "off": satchel.SearchOff}

// Resolve finds the places that the flags name, and how they are searched.
func (f *SkillFlags) Resolve(ctx context.Context, c cli.Console, always bool) (err error) {
	if f.Searching, err = f.EmbedFlags.Options(c.Env); err != nil {
		return err
	}
	return f.SkillDirs.Resolve(ctx, c, always)
}

// check refuses flags that do not go together.
func (f *SkillFlags) check() error {
	if f.Audience != "" {
		seen, err := f.AudienceOption()
		if err != nil {
			return err
		}
		f.sees = append(f.sees[:0:0], seen)
	}
	adaptive := f.LoadMode == nil && f.Vocabulary != "runtime-spec" || f.LoadMode != nil && *f.LoadMode == loadmode.Adaptive
	if f.Prices != nil && !adaptive {
		return fmt.Errorf("%w: --prices needs --load-mode adaptive", cli.ErrUsage)
	}
	if f.MaxLoaded < 0 {
		return fmt.Errorf("%w: --max-loaded %d: want 0, which is no cap, or more", cli.ErrUsage, f.MaxLoaded)
	}
	for _, a := range f.Activate {
		if tool, skill, ok := strings.Cut(a, "="); !ok || tool == "" || skill == "" {
			return fmt.Errorf("%w: --activate %q: want TOOL=SKILL", cli.ErrUsage, a)
		} else if words := f.tools().Vocabulary; (&call.Choices{Vocabulary: &words}).IsOwn(tool) {
			return fmt.Errorf("%w: --activate %q: %q is a tool of Satchel itself; name a tool of the host", cli.ErrUsage, a, tool)
		}
	}
	return nil
}

// options returns the options of the runtime except those for running commands.
func (f *SkillFlags) options() []satchel.Option {
	opts := []satchel.Option{
		satchel.WithSkillRoots(f.Roots, f.Reading...),
		satchel.WithLoading(f.loading()),
		satchel.WithOverview(f.overview()),
		satchel.WithActivation(f.activation()),
		satchel.WithPermissions(satchel.Permissions{ToolSkills: f.toolSkills()}),
		satchel.WithTools(f.tools()),
	}
	if f.Warnings != nil {
		opts = append(opts, satchel.WithLogger(slog.New(f.Warnings)))
	}
	if f.Watch {
		opts = append(opts, satchel.WithSkillRoots(nil, catalog.WithWatch(catalog.WatchOptions{})))
	}
	if f.Carried != nil {
		opts = append(opts, satchel.WithSkillFS("demo", f.Carried))
	}
	return append(opts, f.sees...)
}

var (
	references = map[string]tools.References{"list": tools.ReferencesList, "inline": tools.ReferencesInline}
	placements = map[string]processors.Placement{"system": processors.InSystem, "tool-result": processors.InToolResult}
)

func (f *SkillFlags) loading() satchel.Loading {
	l := satchel.Loading{Preload: f.Preload, Max: cmp.Or(f.MaxLoaded, -1), Placement: placements[f.Placement]}
	if f.LoadMode != nil {
		l.Mode = *f.LoadMode
	}
	if f.Prices != nil {
		l.Prices = *f.Prices
	}
	if f.Budget != nil {
		l.Budget = tools.Budget{Warn: cmp.Or(f.Budget.warn, -1), Max: cmp.Or(f.Budget.max, -1)}
	}
	return l
}

func (f *SkillFlags) overview() satchel.Overview {
	o := satchel.Overview{Search: searchModes[f.Search], References: references[f.References]}
	if f.Needs == "hide" {
		o.Needs = satchel.Hide
	}
	if f.unlisted {
		o.NoGuidance, o.Render = true, func([]core.Skill) string { return "" }
	}
	return o
}

func (f *SkillFlags) activation() satchel.Activation {
	a := satchel.Activation{Suggest: f.Activation == "suggest", Load: f.Activation == "load"}
	for _, how := range f.Mentions {
		a.Mentions |= map[string]satchel.Mentions{"dollar": satchel.Dollar, "slash": satchel.Slash, "words": satchel.Words}[how]
	}
	return a
}

// toolSkills returns the skills that the tools of --activate need.
func (f *SkillFlags) toolSkills() map[string][]string {
	skills := map[string][]string{}
	for _, a := range f.Activate {
		tool, skill, _ := strings.Cut(a, "=")
		skills[tool] = append(skills[tool], skill)
	}
	return skills
}

func (f *SkillFlags) tools() (t satchel.Tools) {
	if f.Profile == "knowledge_only" {
		t.Profile = tools.KnowledgeOnly
	}
	switch f.Vocabulary {
	case "runtime-spec":
		t.Vocabulary = tools.Vocabulary{Name: tools.RuntimeSpec}
	case "unified":
		t.Vocabulary = library.Vocabulary()
	}
	return t
}

// events returns the option that reports events to hook.
func (f *SkillFlags) events(hook func(context.Context, core.Event)) satchel.Option {
	if f.Lifecycle {
		return satchel.WithEvents(hook, core.SkillDiscovered, core.SkillRegistered)
	}
	return satchel.WithEvents(hook)
}

// explainNew returns the error of satchel.New with the flag's name in place of an option's.
func (f *SkillFlags) explainNew(err error) error {
	if _, why, ok := strings.Cut(err.Error(), "ToolSkills: "); ok && errors.Is(err, catalog.ErrUnknownSkill) {
		return fmt.Errorf("%w: --activate: %s", cli.ErrStart, why)
	}
	if _, why, ok := strings.Cut(err.Error(), "WithFork: Skills: "); ok {
		return fmt.Errorf("%w: --fork: %s", cli.ErrStart, why)
	}
	if _, why, ok := strings.Cut(err.Error(), "WithLoading: Preload: "); ok && errors.Is(err, satchel.ErrOption) {
		return fmt.Errorf("%w: --preload: %s", cli.ErrStart, why)
	}
	return fmt.Errorf("%w: %w", cli.ErrStart, places.ExplainOpen(err))
}

// checkCompact refuses skills of --compact that do not exist.
func (f *SkillFlags) checkCompact(rt *satchel.Runtime) error {
	for _, name := range f.Compact {
		if _, err := rt.Catalog().Snapshot().Resolve(name); err != nil {
			return fmt.Errorf("%w: --compact %q: %w", cli.ErrStart, name, err)
		}
	}
	return nil
}

// compact lets the skills of --compact give way to their outlines in the next turn.
func (f *SkillFlags) compact(ctx context.Context, rt *satchel.Runtime) error {
	for _, name := range f.Compact {
		if err := rt.Compact(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
