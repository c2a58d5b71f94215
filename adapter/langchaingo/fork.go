package langchaingo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// errForkModel reports a fork without a model.
var errForkModel = errors.New("the agent of the skill has no model: the calling agent has none that is known, so set Model in the function of Fork")

// ForkAgent describes the agent that [Fork] runs. The function of Fork may change it.
type ForkAgent struct {
	// Model, Tools and System are those of the calling agent. They have no skills yet.
	Model  llms.Model
	Tools  []tools.Tool
	System string
	// NewAgent makes the agent of a model and tools with skills. The default makes an
	// agents.OpenAIFunctionsAgent.
	NewAgent func(llms.Model, []tools.Tool) agents.Agent
}

// Fork returns the function Run of [satchel.Fork]. It runs an executor whose agent has the model,
// the tools and the system text of the calling agent, and its own skill tools.
//
// newExecutor, if not nil, may change the agent before it is built. A host resolves there the names in
// r.Skill.Model and r.Skill.Agent; names that it does not know leave the agent as it is. An error of
// newExecutor becomes the answer to the load.
func Fork(newExecutor func(ctx context.Context, r satchel.ForkRequest, agent *ForkAgent) error) func(context.Context, satchel.ForkRequest) (string, error) {
	return func(ctx context.Context, r satchel.ForkRequest) (string, error) {
		parent, _ := ctx.Value(forkParentKey{}).(*Adapter)
		agent, settings, history := parent.forkAgent(&r)
		if newExecutor != nil {
			if err := newExecutor(ctx, r, agent); err != nil {
				return "", err
			}
		}
		if agent.Model == nil {
			return "", errForkModel
		}
		opts := []Option{settings, WithAgentName(r.Key.Agent)}
		if agent.System != "" {
			opts = append(opts, WithSystem(agent.System))
		}
		own, err := Install(r.Runtime, agent.Model, agent.Tools, opts...)
		if err != nil {
			return "", err
		}
		defer func() { _ = own.Close() }() // it has no anonymous sessions
		own.forkHistory = history
		executor := agents.NewExecutor(own.Agent(agent.build(own)), agents.WithMaxIterations(r.MaxTurns+1)) // the runtime refuses the one above the limit
		out, err := executor.Call(ctx, map[string]any{"input": r.Task})
		if err != nil {
			return "", err
		}
		for _, key := range executor.GetOutputKeys() {
			if answer, ok := out[key].(string); ok {
				return answer, nil
			}
		}
		return "", fmt.Errorf("the executor of skill %q returned no text", r.Skill.Name)
	}
}

// build makes the agent with the skills of an adapter.
func (f *ForkAgent) build(own *Adapter) agents.Agent {
	if f.NewAgent != nil {
		return f.NewAgent(own.Model(), own.Tools())
	}
	agent := agents.NewOpenAIFunctionsAgent(own.Model(), own.Tools())
	if f.System == "" { // no option removes the default system message
		agent.Prompt = prompts.NewChatPromptTemplate([]prompts.MessageFormatter{
			prompts.NewHumanMessagePromptTemplate("{{.input}}", []string{"input"}),
			prompts.MessagesPlaceholder{VariableName: "agent_scratchpad"},
		})
	}
	return agent
}

type forkParentKey struct{}

// withForkParent marks ctx for a fork, which gets model and tools of this adapter's agent.
func (a *Adapter) withForkParent(ctx context.Context) context.Context {
	if a.openings == nil {
		return ctx
	}
	return context.WithValue(ctx, forkParentKey{}, a)
}

// opening is how a fork of an agent begins: with the system text of the host, and with the rest of the
// last request with the texts of skills.
type opening struct {
	system  string
	history []llms.MessageContent
}

// noteOpening keeps the last request of an agent for its forks.
func (a *Adapter) noteOpening(key core.SessionKey, messages []llms.MessageContent, view []core.Message) {
	if a.openings == nil {
		return
	}
	var o opening
	for _, m := range messages[:leadingSystem(messages)] {
		if o.system != "" {
			o.system += "\n\n"
		}
		o.system += joinText(m.Parts)
	}
	shown := applyView(messages, view)
	o.history = slices.Clone(shown[leadingSystem(shown):])
	a.openingsMu.Lock()
	defer a.openingsMu.Unlock()
	a.openings.Put(key, o, 1)
}

// forkAgent returns the agent of a fork of the adapter's agent, the adapter's settings as an option,
// and the earlier messages of the fork. A nil Adapter gives an empty agent.
func (a *Adapter) forkAgent(r *satchel.ForkRequest) (*ForkAgent, Option, []llms.MessageContent) {
	if a == nil {
		return &ForkAgent{}, func(*config) error { return nil }, nil
	}
	a.openingsMu.Lock()
	begins, ok := a.openings.Get(r.Parent)
	a.openingsMu.Unlock()
	if !ok {
		begins.system = a.config.system
	}
	f := &ForkAgent{Model: a.model.inner, System: begins.system}
	for _, t := range a.tools {
		if w, ok := t.(*skillTool); ok && w.inner != nil {
			f.Tools = append(f.Tools, w.inner)
		}
	}
	settings := func(c *config) error {
		c.client, c.mark = a.config.client, a.config.mark
		return nil
	}
	if !r.HasHistory {
		return f, settings, nil
	}
	return f, settings, begins.history
}
