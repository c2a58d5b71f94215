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

// Install gives the agent that cfg describes the skills of rt. Call it once, with the
// configuration complete, before adk.NewChatModelAgent; each agent of a multi-agent system is
// installed on its own.
//
// It wraps cfg.Model and, in versions of Eino that have them, the models that
// cfg.ModelFailoverConfig falls back on. It puts its gate before the tool middlewares, sets an
// unknown-tools handler or wraps the host's (see [Adapter.UnknownTools]), and adds the skill
// tools after the host's. It copies the slices that it extends, so configurations that share
// them stay apart. Nothing else changes: limits, retries, callbacks and middlewares are the
// host's. cfg.Middlewares is deliberately left alone, because each entry there adds a line
// break to the instruction and so makes a blank system message of an empty one.
//
// The adapter is the agent's own: close it when the agent is no longer used.
//
// It fails if cfg or rt is nil, has no model, has skills already, or has a failover of an
// unknown form. cfg is then unchanged.
func Install(cfg *adk.ChatModelAgentConfig, rt *satchel.Runtime, opts ...Option) (*Adapter, error) {
	if cfg == nil {
		return nil, errNoConfig
	}
	a, err := New(rt, named(cfg.Name, opts)...)
	if err != nil {
		return nil, err
	}
	wrapped, err := a.Model(cfg.Model)
	if err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", cfg.Name, err)
	}
	fallBack, err := a.failover(cfg)
	if err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", cfg.Name, err)
	}
	if err := a.extend(&cfg.ToolsConfig.ToolsNodeConfig); err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", cfg.Name, err)
	}
	cfg.Model = wrapped
	fallBack()
	return a, nil
}

// named puts the default name first, so that the host's option overrides it.
func named(name string, opts []Option) []Option {
	return append([]Option{WithAgentName(name)}, opts...)
}

// extend adds the tools and the gate to a tools node.
func (a *Adapter) extend(cfg *compose.ToolsNodeConfig) error {
	for _, t := range cfg.Tools {
		if _, ok := t.(*skillTool); ok {
			return errInstalled
		}
	}
	a.host = namesOf(cfg.Tools)
	// Clipped, because Eino appends to these slices for each agent that it
	// builds from the configuration.
	cfg.Tools = slices.Clip(slices.Concat(cfg.Tools, a.Tools()))
	cfg.ToolCallMiddlewares = slices.Clip(slices.Concat([]compose.ToolMiddleware{a.ToolMiddleware()}, cfg.ToolCallMiddlewares))
	cfg.UnknownToolsHandler = a.UnknownTools(cfg.UnknownToolsHandler)
	return nil
}

// namesOf returns the names of tools that tell them.
func namesOf(tools []tool.BaseTool) []string {
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
