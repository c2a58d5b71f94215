package eino

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

var (
	// errNoRuntime reports a nil runtime.
	errNoRuntime = errors.New("runtime is nil")
	// errNoConfig reports a nil agent configuration.
	errNoConfig = errors.New("agent configuration is nil")
	// errNoModel reports a configuration without a tool calling model.
	errNoModel = errors.New("no tool calling model")
	// errInstalled reports a model or a configuration that already has skills.
	errInstalled = errors.New("skills are already installed")
	// errFailover reports a configuration with failover models of a form that this package does
	// not know. They would have no skills.
	errFailover = errors.New("unknown form of failover")
	// errToolName reports a tool of the host that has the name of a skill tool.
	errToolName = errors.New("tool name is taken by a skill tool")
)

// Adapter holds the parts that one Eino agent gets from a runtime: its model, tools and
// middleware. All of them must come from the same Adapter, because they share the identity of a
// run. It is safe for concurrent use.
type Adapter struct {
	rt        *satchel.Runtime
	hooks     adapter.Runtime
	config    config
	tools     []*skillTool
	hostTools []string // names of the host's tools at installation
	runs      *runs
	// forkBase is the configuration of the agent without skills, for forks. openings
	// says how forks of the agents begin. It is nil if the runtime has no forks.
	forkBase   adk.ChatModelAgentConfig
	openingsMu sync.Mutex
	openings   *lru.Cache[core.SessionKey, opening]
}

// New returns the parts for one agent. In a session that sees no skill, requests pass unchanged
// but for the skill tools, which are removed.
//
// New fails for a nil runtime, for an option that cannot work, and if the schema of a tool
// cannot be expressed in Eino.
func New(rt *satchel.Runtime, opts ...Option) (*Adapter, error) {
	if rt == nil {
		return nil, errNoRuntime
	}
	s, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	a := &Adapter{rt: rt, hooks: rt.Hooks(), config: s}
	a.runs = newRuns(rt, a.config.agent)
	if a.hooks.RunsForks() {
		a.openings = lru.New[core.SessionKey, opening](maxOpenings, nil)
	}
	for _, t := range rt.Tools() {
		st, err := newSkillTool(a, t)
		if err != nil {
			return nil, fmt.Errorf("describe tool %q: %w", t.Name, err)
		}
		a.tools = append(a.tools, st)
	}
	return a, nil
}

// Tools returns the skill tools for the tools node, in a constant order. They need
// [Adapter.ToolMiddleware], which gates the calls and reports their end. The caller owns the
// slice.
func (a *Adapter) Tools() []tool.BaseTool {
	tools := make([]tool.BaseTool, 0, len(a.tools))
	for _, t := range a.tools {
		tools = append(tools, t)
	}
	return tools
}

// Close ends the anonymous sessions of runs that have not ended: the runtime forgets what they
// have loaded. Sessions that the host named stay, and the runtime stays open. A second Close
// does nothing.
func (a *Adapter) Close() error { return a.runs.close() }

// enter finds the session that the call under ctx belongs to, and marks ctx with it for the
// wrapped model, the tools and the host's own code.
func (a *Adapter) enter(ctx context.Context) (context.Context, core.SessionKey, error) {
	key, err := a.runs.key(ctx)
	if err != nil {
		return ctx, core.SessionKey{}, err
	}
	ctx = withAgentRun(adapter.WithHostTools(ctx, a.hostTools))
	if ctx = adapter.Enter(ctx, a.runs, key); a.openings != nil {
		ctx = a.withForkParent(ctx)
	}
	return ctx, key, nil
}
