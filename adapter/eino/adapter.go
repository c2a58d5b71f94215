package eino

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/components/tool"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// Errors of this package; test for them with errors.Is.
var (
	// errNoRuntime reports a nil runtime.
	errNoRuntime = errors.New("runtime is nil")
	// errNoConfig reports a nil agent configuration.
	errNoConfig = errors.New("agent configuration is nil")
	// errNoModel reports a configuration without a tool calling model.
	errNoModel = errors.New("no tool calling model")
	// errInstalled reports a model or a configuration that already has skills.
	errInstalled = errors.New("skills are already installed")
	// errFailover reports a configuration whose models to fall back on are of a
	// form that this package does not know, so that they would have no skills.
	errFailover = errors.New("unknown form of failover")
	// errToolName reports a tool of the host that has the name of a skill tool.
	errToolName = errors.New("tool name is taken by a skill tool")
)

// Adapter holds what one Eino agent gets from a runtime. Its parts belong
// together: they share the identity of a run, so an agent's model, tools and
// middleware must come from the same Adapter. It is safe for concurrent use.
type Adapter struct {
	rt       *satchel.Runtime
	hooks    adapter.Runtime
	settings settings
	tools    []*skillTool
	host     []string // names of the host's tools, as they were when they were installed
	runs     *runs
}

// New returns the parts for one agent. The requests of a session that sees no skill are passed
// on as they are, without the skill tools.
//
// It fails for a nil runtime, for an option that cannot work, and if the schema of a tool
// cannot be expressed in Eino.
func New(rt *satchel.Runtime, opts ...Option) (*Adapter, error) {
	if rt == nil {
		return nil, errNoRuntime
	}
	s, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	a := &Adapter{rt: rt, hooks: rt.Hooks(), settings: s}
	a.runs = newRuns(rt, a.settings.agent)
	for _, t := range rt.Tools() {
		st, err := newSkillTool(a, t)
		if err != nil {
			return nil, fmt.Errorf("describe tool %q: %w", t.Name, err)
		}
		a.tools = append(a.tools, st)
	}
	return a, nil
}

// Tools returns the skill tools, in a constant order, for the tools node. Use
// them with [Adapter.ToolMiddleware]: it gates the calls and reports their end.
// The slice is the caller's.
func (a *Adapter) Tools() []tool.BaseTool {
	tools := make([]tool.BaseTool, 0, len(a.tools))
	for _, t := range a.tools {
		tools = append(tools, t)
	}
	return tools
}

// Close ends the anonymous sessions of runs that have not ended: what they have loaded is
// forgotten. Sessions that the host names stay, and so does the runtime. Closing it again
// does nothing.
func (a *Adapter) Close() error { return a.runs.close() }

// enter finds the session that the call under ctx belongs to and marks the
// context with it, for the inner model, the tools and the host's own code.
func (a *Adapter) enter(ctx context.Context) (context.Context, core.SessionKey, error) {
	key, err := a.runs.key(ctx)
	if err != nil {
		return ctx, core.SessionKey{}, err
	}
	ctx = inAgentRun(adapter.WithHostTools(ctx, a.host))
	return adapter.Enter(ctx, a.runs, key), key, nil
}
