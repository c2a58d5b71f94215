package chat

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	lctools "github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	satcheleino "github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
)

// ForkFlags are the flags about skills that run as agents of their own.
type ForkFlags struct {
	Fork         []string `placeholder:"NAME,…|declared" help:"Skills that run as agents of their own when the model loads them: those that ask for it (context: fork), and with declared no others."`
	MaxForkTurns int      `default:"20" placeholder:"N" help:"How many model calls such a skill may take (default ${default})."`
}

// declared is the value of --fork that names no skill.
const declared = "declared"

// check refuses values that cannot work.
func (f *ForkFlags) check() error {
	switch {
	case f.MaxForkTurns < 0 || f.MaxForkTurns == 0 && len(f.Fork) > 0:
		return fmt.Errorf("%w: --max-fork-turns %d: want at least 1", cli.ErrUsage, f.MaxForkTurns)
	case slices.Contains(f.Fork, ""):
		return fmt.Errorf("%w: --fork: a name is empty: name skills, or %s", cli.ErrUsage, declared)
	}
	return nil
}

// options returns the option for forks, or none.
func (f *ForkFlags) options(run func(context.Context, satchel.ForkRequest) (string, error)) []satchel.Option {
	if len(f.Fork) == 0 {
		return nil
	}
	names := slices.DeleteFunc(slices.Clone(f.Fork), func(name string) bool { return name == declared })
	return []satchel.Option{satchel.WithFork(satchel.Fork{Run: run, Skills: names, MaxTurns: f.MaxForkTurns})}
}

// forkRun returns the function that runs the forks of a chat. They are agents of the same kind.
func (f *Flags) forkRun() func(context.Context, satchel.ForkRequest) (string, error) {
	if f.Framework != "langchaingo" {
		return satcheleino.Fork(nil)
	}
	return langchaingo.Fork(func(_ context.Context, _ satchel.ForkRequest, agent *langchaingo.ForkAgent) error {
		switch f.Agent {
		case "mrkl":
			agent.NewAgent = func(m llms.Model, t []lctools.Tool) agents.Agent { return agents.NewOneShotAgent(m, t) }
		case "conversational":
			agent.NewAgent = func(m llms.Model, t []lctools.Tool) agents.Agent { return agents.NewConversationalAgent(m, t) }
		}
		return nil
	})
}

// forkRun returns the function that runs the forks of a command without a model of its own, at the
// endpoint that the environment names.
func (cmd *ToolCommand) forkRun(env func(string) string) (func(context.Context, satchel.ForkRequest) (string, error), error) {
	if len(cmd.Fork) == 0 {
		return nil, nil
	}
	where, err := NewEndpoint(env, "")
	if err != nil {
		return nil, fmt.Errorf("%w (--fork runs an agent)", err)
	}
	return satcheleino.Fork(func(ctx context.Context, _ satchel.ForkRequest, cfg *adk.ChatModelAgentConfig) (err error) {
		cfg.Model, err = einoModel(ctx, where, &Flags{}, "")
		return err
	}), nil
}

// showIgnoredForks shows that skills ask to run as agents of their own, if no flag lets them.
func showIgnoredForks(rt *satchel.Runtime, show *reporter) {
	for _, d := range rt.Diagnostics() {
		if d.Code == "fork-ignored" {
			d.Message = places.Advice(d)
			show.Diagnostic(d.String())
		}
	}
}

// forkOf returns the fork of an event, nil for none.
func forkOf(e core.Event) *string {
	if e.Fork == "" {
		return nil
	}
	return &e.Fork
}

// forked shows what an event says of a fork. The framework shows the calls of the agent itself, and
// nothing of its forks.
func (r *reporter) forked(e core.Event) {
	fork := forkOf(e)
	if fork == nil {
		return
	}
	switch e.Kind {
	case core.ModelCalled:
		r.usage(e.Usage, fork)
		return
	case core.ForkBegun, core.ForkEnded, core.ToolCalled:
	default:
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLine()
	if e.Kind == core.ToolCalled {
		r.line(event{Event: "tool_call", ID: &e.Call.ID, Name: &e.Call.Name, Arguments: &e.Call.Arguments, Fork: fork})
		r.line(event{Event: "tool_result", ID: &e.Call.ID, Name: &e.Call.Name, Result: &e.Detail, Fork: fork})
		r.note("fork    %s: %s %s: %s", e.Fork, e.Call.Name, e.Call.Arguments, e.Detail)
		return
	}
	r.line(event{Event: string(e.Kind), Skill: &e.Skill, Detail: &e.Detail, Fork: fork})
	r.note("fork    %s %s %s", e.Kind, e.Fork, e.Detail)
}
