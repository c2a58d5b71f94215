package langchaingo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// Errors of [Install] and the options.
var (
	// errArgument reports a nil or otherwise unusable argument or option.
	errArgument = errors.New("unusable argument")
	// errToolName reports a host tool whose name is empty or equals the name of one of
	// Satchel's tools, in any case of letters. Executors ignore case when they match names, so
	// one of the two would be unreachable.
	errToolName = errors.New("unusable tool name")
	// errSchema reports a host tool whose [Schemer] does not return an object schema.
	errSchema = errors.New("unusable tool schema")
)

// Adapter holds the parts that one agent of a host gets from a runtime: its model, its tools
// and its agent, all with skills. It is safe for concurrent use, and one adapter serves any
// number of sessions. Agents with different tools or names need an adapter each.
type Adapter struct {
	runtime *satchel.Runtime
	hooks   adapter.Runtime
	config  config
	model   *viewModel
	tools   []tools.Tool
	names   []string              // of tools
	byName  map[string]*skillTool // upper-cased, as executors match
	offer   offer
	runs    *runs
	// openings says how forks of the agents begin. It is nil if the runtime has no forks. forkHistory
	// are the earlier messages if the agent is itself a fork.
	openingsMu  sync.Mutex
	openings    *lru.Cache[core.SessionKey, opening]
	forkHistory []llms.MessageContent
}

// Install prepares a host's model and tools for an agent with skills. It calls neither of them.
// Host tools keep their order, and Satchel's tools follow. A session that sees no skill is not
// offered Satchel's tools. Install fails if a host tool cannot be used, and names it.
func Install(rt *satchel.Runtime, llm llms.Model, hostTools []tools.Tool, opts ...Option) (*Adapter, error) {
	if rt == nil || llm == nil {
		return nil, fmt.Errorf("install: %w: runtime and model must not be nil", errArgument)
	}
	c, err := newConfig(llm, opts)
	if err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	a := &Adapter{runtime: rt, hooks: rt.Hooks(), config: c, byName: map[string]*skillTool{}}
	if a.offer, err = newOffer(rt.Tools(), hostTools); err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	a.runs = newRuns(rt, c.agent)
	if a.hooks.RunsForks() {
		a.openings = lru.New[core.SessionKey, opening](maxOpenings, nil)
	}
	a.model = &viewModel{adapter: a, inner: llm}
	for _, t := range hostTools {
		a.add(a.wrap(t))
	}
	for _, t := range rt.Tools() {
		a.add(&skillTool{adapter: a, name: t.Name, description: t.Description})
	}
	return a, nil
}

func (a *Adapter) add(t *skillTool) {
	a.tools, a.names = append(a.tools, t), append(a.names, t.Name())
	name := strings.ToUpper(t.Name())
	if a.byName[name] == nil {
		a.byName[name] = t
	}
}

// Model returns the host's model with skills, for the agent or for a loop of the host. A trace names the
// model as the option llms.WithModel of a call does, or else as a method ModelName() string of the host's
// model does.
func (a *Adapter) Model() llms.Model { return a.model }

// Tools returns the tools for the agent: the host's behind the gate, and Satchel's. The caller
// owns the slice.
func (a *Adapter) Tools() []tools.Tool { return slices.Clone(a.tools) }

// Agent adds skills to an agent that the host built with [Adapter.Model] and [Adapter.Tools].
// Executors run the result as they would run the agent itself.
func (a *Adapter) Agent(inner agents.Agent) agents.Agent {
	return &decoratedAgent{adapter: a, inner: inner}
}

// Close ends the runs that have not ended: the runtime forgets the loads of anonymous ones.
// Sessions that the host named stay, and the runtime stays open. A second Close does nothing.
func (a *Adapter) Close() error { return a.runs.close(context.Background()) }

// Begin begins an anonymous session for a host that calls the model in a loop of its own and
// has no name for the conversation. Every call under the returned context belongs to that
// session; end ends it.
func (a *Adapter) Begin(ctx context.Context) (_ context.Context, end func() error) {
	key := a.hooks.Anonymous(a.config.agent)
	endContext := context.WithoutCancel(ctx)
	return adapter.WithSession(ctx, key), func() error {
		return a.hooks.EndAnonymous(endContext, key)
	}
}
