package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
)

// langchainHelper is an agent that the model of a langchaingo executor can call as a
// tool. Each call is a conversation of its own.
type langchainHelper struct {
	name     string
	executor *agents.Executor
}

var _ langchaingo.Schemer = (*langchainHelper)(nil)

// langchainHelpers makes the agents of --sub-agent.
func langchainHelpers(where Endpoint, f *Flags) ([]tools.Tool, error) {
	var all []tools.Tool
	for _, name := range slices.Sorted(maps.Keys(f.helpers)) {
		llm, err := langchainModel(where, f, name)
		if err != nil {
			return nil, err
		}
		helper, err := newLangchainHelper(llm, name, f.helpers[name], f)
		if err != nil {
			return nil, fmt.Errorf("make agent %s: %w", name, err)
		}
		all = append(all, helper)
	}
	return all, nil
}

func newLangchainHelper(llm llms.Model, name string, rt *satchel.Runtime, f *Flags) (*langchainHelper, error) {
	opts := []langchaingo.Option{langchaingo.WithAgentName(name)}
	if f.System != "" {
		opts = append(opts, langchaingo.WithSystem(f.System))
	}
	adapter, err := langchaingo.Install(rt, llm, nil, opts...)
	if err != nil {
		return nil, err
	}
	inner := agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools())
	if f.System == "" {
		inner.Prompt = noSystem()
	}
	return &langchainHelper{name, agents.NewExecutor(adapter.Agent(inner), agents.WithMaxIterations(f.MaxSteps))}, nil
}

// Name implements tools.Tool.
func (h *langchainHelper) Name() string { return h.name }

// Description implements tools.Tool.
func (h *langchainHelper) Description() string {
	return "Answers a request with the help of skills of its own."
}

// Schema implements [langchaingo.Schemer].
func (h *langchainHelper) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"request":{"type":"string"}},"required":["request"]}`)
}

// Call runs the agent. The calling model gets a failure as an answer.
func (h *langchainHelper) Call(ctx context.Context, input string) (string, error) {
	var args struct{ Request string }
	if err := json.Unmarshal([]byte(input), &args); err != nil || args.Request == "" {
		return fmt.Sprintf("error: %s takes {\"request\": text}", h.name), nil //nolint:nilerr // the model is told
	}
	out, err := h.executor.Call(ctx, map[string]any{"input": args.Request})
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return fmt.Sprintf("error: %s: %v", h.name, err), nil
	}
	answer, _ := out["output"].(string)
	return answer, nil
}
