package eino

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"

	"github.com/satchel-go/satchel"
)

// Install adds the skills of rt to the agent that cfg describes. The host calls it once, with
// the configuration complete, before adk.NewChatModelAgent. In a multi-agent system it calls
// Install for each agent.
//
// Install wraps cfg.Model and, in versions of Eino that have them, the models of
// cfg.ModelFailoverConfig. It puts its gate before the tool middlewares, sets an unknown-tools
// handler or wraps the host's (see [Adapter.UnknownTools]), and adds the skill tools after the
// host's. It copies the slices that it extends, so other configurations may share them. Nothing
// else changes: limits, retries, callbacks and middlewares are the host's. Install adds nothing
// to cfg.Middlewares. Each entry there adds a line break to the instruction, which makes a
// blank system message of an empty one.
//
// The adapter belongs to this agent: close it when the agent is no longer used.
//
// Install fails if cfg or rt is nil, has no model, has skills already, or has a failover of an
// unknown form. cfg is then unchanged.
func Install(cfg *adk.ChatModelAgentConfig, rt *satchel.Runtime, opts ...Option) (*Adapter, error) {
	if cfg == nil {
		return nil, errNoConfig
	}
	a, err := New(rt, withDefaultName(cfg.Name, opts)...)
	if err != nil {
		return nil, err
	}
	a.forkBase = *cfg
	wrapped, err := a.Model(cfg.Model)
	if err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", cfg.Name, err)
	}
	setFailover, err := a.failover(cfg)
	if err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", cfg.Name, err)
	}
	if err := a.extend(&cfg.ToolsConfig.ToolsNodeConfig); err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", cfg.Name, err)
	}
	cfg.Model = wrapped
	setFailover()
	return a, nil
}

// withDefaultName prepends the default name, so that an option of the host overrides it.
func withDefaultName(name string, opts []Option) []Option {
	return append([]Option{WithAgentName(name)}, opts...)
}

// extend adds the tools, the gate and the unknown-tools handler to a tools node.
func (a *Adapter) extend(cfg *compose.ToolsNodeConfig) error {
	for _, t := range cfg.Tools {
		if _, ok := t.(*skillTool); ok {
			return errInstalled
		}
	}
	a.hostTools = infoNames(cfg.Tools)
	// Clipped, because Eino appends to these slices for each agent that it
	// builds from the configuration.
	cfg.Tools = slices.Clip(slices.Concat(cfg.Tools, a.Tools()))
	cfg.ToolCallMiddlewares = slices.Clip(slices.Concat([]compose.ToolMiddleware{a.ToolMiddleware()}, cfg.ToolCallMiddlewares))
	cfg.UnknownToolsHandler = a.UnknownTools(cfg.UnknownToolsHandler)
	return nil
}

// infoNames returns the names of the tools whose Info does not fail.
func infoNames(tools []tool.BaseTool) []string {
	var names []string
	for _, t := range tools {
		if t == nil {
			continue
		}
		if info, err := t.Info(context.Background()); err == nil && info != nil {
			names = append(names, info.Name)
		}
	}
	return names
}
