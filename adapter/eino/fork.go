package eino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// errForkModel reports a fork without a model.
var errForkModel = errors.New("the agent of the skill has no model: the calling agent has none that is known, so set Model in the function of Fork")

// Fork returns the function Run of [satchel.Fork]. It runs an agent of adk that has the model, the
// tools, the middlewares and the system text of the calling agent, and its own skill tools.
//
// newAgent, if not nil, may change the configuration of the agent before it is built. A host resolves
// there the names in r.Skill.Model and r.Skill.Agent; names that it does not know leave the
// configuration as it is. An Instruction replaces the system text. An error of newAgent becomes the
// answer to the load. cfg has no skills yet; newAgent must not install them.
//
// A calling agent from [Install] or [InstallReact] is known as a whole. Of one that a host builds from
// the parts of [New] only the model is known, so newAgent sets the tools. With [Interrupt] as
// approver, a question within the fork interrupts the calling agent too, and a resume goes on with
// the fork.
func Fork(newAgent func(ctx context.Context, r satchel.ForkRequest, cfg *adk.ChatModelAgentConfig) error) func(context.Context, satchel.ForkRequest) (string, error) {
	return func(ctx context.Context, r satchel.ForkRequest) (string, error) {
		parent, _ := ctx.Value(forkParentKey{}).(*Adapter)
		cfg, option := parent.forkConfig(ctx, &r)
		if newAgent != nil {
			if err := newAgent(ctx, r, cfg); err != nil {
				return "", err
			}
		}
		if cfg.Model == nil {
			return "", errForkModel
		}
		own, err := Install(cfg, r.Runtime, option, WithAgentName(r.Key.Agent))
		if err != nil {
			return "", err
		}
		defer func() { _ = own.Close() }() // it has no anonymous sessions
		agent, err := adk.NewChatModelAgent(ctx, cfg)
		if err != nil {
			return "", err
		}
		return runFork(ctx, agent, r.Task)
	}
}

// runFork runs the agent as adk runs an agent that is a tool, which can be interrupted and resumed.
func runFork(ctx context.Context, agent adk.Agent, task string) (string, error) {
	runner, ok := adk.NewAgentTool(ctx, agent).(tool.InvokableTool)
	if !ok {
		return "", errors.New("adk's agent tool is not invokable")
	}
	arguments, err := json.Marshal(map[string]string{"request": task})
	if err != nil {
		return "", err
	}
	answer, err := runner.InvokableRun(ctx, string(arguments))
	if _, isInterrupt := compose.IsInterruptRerunError(err); isInterrupt {
		err = &adapter.ForkInterrupt{Err: err}
	}
	return answer, err
}

type forkParentKey struct{}

// withForkParent marks ctx for a fork, which gets model and tools of this adapter's agent.
func (a *Adapter) withForkParent(ctx context.Context) context.Context {
	return context.WithValue(ctx, forkParentKey{}, a)
}

// opening is how a fork of an agent begins: with the system text of the host, and with the rest of the
// last request as the model got it.
type opening struct{ system, history []*schema.Message }

// newOpening returns the opening for the request of a host and what was sent for it.
func newOpening(input, sent []*schema.Message) opening {
	return opening{system: slices.Clone(input[:leadingSystem(input)]), history: slices.Clone(sent[leadingSystem(sent):])}
}

// leadingSystem returns the number of system messages at the beginning.
func leadingSystem(messages []*schema.Message) int {
	for i, m := range messages {
		if m == nil || m.Role != schema.System {
			return i
		}
	}
	return len(messages)
}

// noteRequest keeps the last request of an agent for its forks.
func (a *Adapter) noteRequest(key core.SessionKey, input, sent []*schema.Message) {
	o := newOpening(input, sent)
	a.openingsMu.Lock()
	defer a.openingsMu.Unlock()
	a.openings.Put(key, o, 1)
}

// openingOf returns how a fork of an agent begins. A process that has made no request for the agent
// takes the messages of the run that an adk agent resumes.
func (a *Adapter) openingOf(ctx context.Context, key core.SessionKey) opening {
	a.openingsMu.Lock()
	o, ok := a.openings.Get(key)
	a.openingsMu.Unlock()
	if ok {
		return o
	}
	_ = compose.ProcessState(ctx, func(_ context.Context, st *adk.State) error { // else it is no agent of adk
		messages := st.Messages
		if n := len(messages); n > 0 && messages[n-1] != nil && len(messages[n-1].ToolCalls) > 0 {
			messages = messages[:n-1] // without the response with the call that is answered now
		}
		o = newOpening(messages, messages)
		return nil
	})
	return o
}

// forkConfig returns the configuration of a fork of the adapter's agent, and an option with the
// adapter's settings. A nil Adapter gives an empty configuration.
func (a *Adapter) forkConfig(ctx context.Context, r *satchel.ForkRequest) (*adk.ChatModelAgentConfig, Option) {
	cfg := &adk.ChatModelAgentConfig{}
	var begins opening
	settings := config{}
	if a != nil {
		*cfg, settings = a.forkBase, a.config
		begins = a.openingOf(ctx, r.Parent)
	}
	if !r.HasHistory {
		begins.history = nil
	}
	cfg.Name, cfg.Description = "fork", fmt.Sprintf("Runs the skill %s.", r.Skill.Name)
	cfg.Instruction, cfg.OutputKey = "", ""
	cfg.MaxIterations = r.MaxTurns + 1 // the runtime refuses the one above the limit
	cfg.GenModelInput = func(_ context.Context, instruction string, input *adk.AgentInput) ([]adk.Message, error) {
		first := begins.system
		if instruction != "" && cfg.Instruction != "" {
			first = []*schema.Message{schema.SystemMessage(instruction)}
		}
		return slices.Concat(first, begins.history, input.Messages), nil
	}
	return cfg, func(c *config) error { *c = settings; return nil }
}

// reactConfig returns the configuration of an adk agent with the model and the tools of a react agent.
func reactConfig(cfg *react.AgentConfig) adk.ChatModelAgentConfig {
	return adk.ChatModelAgentConfig{Model: cfg.ToolCallingModel, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: cfg.ToolsConfig}}
}
