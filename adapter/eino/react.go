package eino

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
)

// InstallReact adds the skills of rt to a react agent, as [Install] does for an agent of adk.
// The host calls it before react.NewAgent. cfg.ToolCallingModel is required: the deprecated
// cfg.Model cannot bind tools safely and is an error.
//
// InstallReact changes no default of react, and two deserve attention:
//   - MaxStep is 12 graph steps, about five rounds of model and tools. That is short for an
//     agent that loads, reads and runs.
//   - StreamToolCallChecker looks only at the first chunk of a stream. If the model writes text
//     before it calls tools, the run ends there: see [ToolCallsInAnyChunk].
//
// The option react.WithTools replaces all tools of a run, the skill tools included. For such
// runs build the agent from an [Adapter] and add its Tools to that list.
func InstallReact(cfg *react.AgentConfig, rt *satchel.Runtime, opts ...Option) (*Adapter, error) {
	if cfg == nil {
		return nil, errNoConfig
	}
	name := cmp.Or(cfg.GraphName, "react")
	a, err := New(rt, withDefaultName(name, opts)...)
	if err != nil {
		return nil, err
	}
	a.forkBase = reactConfig(cfg)
	wrapped, err := a.Model(cfg.ToolCallingModel)
	if err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", name, err)
	}
	if err := a.extend(&cfg.ToolsConfig); err != nil {
		return nil, fmt.Errorf("install skills in agent %q: %w", name, err)
	}
	cfg.ToolCallingModel = wrapped
	return a, nil
}

// ToolCallsInAnyChunk is a StreamToolCallChecker for react agents whose model may write text
// before it calls tools. It reads until a chunk has a tool call, or to the end if none has. The
// caller of Stream then gets the final answer only when it is complete. That is why
// [InstallReact] does not set it.
func ToolCallsInAnyChunk(_ context.Context, output *schema.StreamReader[*schema.Message]) (bool, error) {
	defer output.Close()
	for {
		chunk, err := output.Recv()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if len(chunk.ToolCalls) > 0 {
			return true, nil
		}
	}
}
