package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/core"
)

// langchainAgent is an executor; the kit keeps the texts of its turns.
type langchainAgent struct {
	executor *agents.Executor
	steps    *stepAgent
}

func newLangchainAgent(_ context.Context, rt *satchel.Runtime, where endpoint, f *chatFlags, show *reporter) (agent, error) {
	llm, err := openai.New(openai.WithBaseURL(where.url), openai.WithToken(where.key), openai.WithModel(where.model))
	if err != nil {
		return nil, fmt.Errorf("connect to model: %w", err)
	}
	history := memory.NewChatMessageHistory()
	opts := []langchaingo.Option{
		langchaingo.WithHistory(func(context.Context) (schema.ChatMessageHistory, error) { return history, nil }),
	}
	if f.System != "" {
		opts = append(opts, langchaingo.WithSystem(f.System))
	}
	if f.Stream {
		opts = append(opts, langchaingo.WithStreaming(func(_ context.Context, chunk []byte) error {
			show.Delta(string(chunk))
			return nil
		}))
	}
	kit, err := langchaingo.Install(rt, llm, nil, opts...)
	if err != nil {
		return nil, fmt.Errorf("install skills: %w", err)
	}
	inner := agents.NewOpenAIFunctionsAgent(reportingModel{kit.Model(), show}, kit.Tools())
	if f.System == "" {
		inner.Prompt = noSystem()
	}
	steps := &stepAgent{Agent: kit.Agent(inner), runtime: rt, show: show}
	executor := agents.NewExecutor(steps, agents.WithMaxIterations(f.MaxSteps), agents.WithReturnIntermediateSteps())
	return &langchainAgent{executor: executor, steps: steps}, nil
}

// noSystem is the agent's prompt without the system message that it has by
// default and that no option removes.
func noSystem() prompts.ChatPromptTemplate {
	return prompts.NewChatPromptTemplate([]prompts.MessageFormatter{
		prompts.NewHumanMessagePromptTemplate("{{.input}}", []string{"input"}),
		prompts.MessagesPlaceholder{VariableName: "agent_scratchpad"},
	})
}

// Turn runs the executor. It is called directly, and not through package
// chains, because that drops the steps of a run without an answer.
func (a *langchainAgent) Turn(ctx context.Context, prompt string) (string, error) {
	out, err := a.executor.Call(ctx, map[string]any{"input": prompt})
	if steps, ok := out["intermediateSteps"].([]schema.AgentStep); ok {
		a.steps.report(steps)
	}
	if errors.Is(err, agents.ErrNotFinished) {
		return "", errSteps
	}
	if err != nil {
		return "", err
	}
	answer, ok := out["output"].(string)
	if !ok {
		return "", errors.New("the run ended without an answer")
	}
	return answer, nil
}

// stepAgent reports the results of the steps, and names the tools where the
// executor says only that one is not valid.
type stepAgent struct {
	agents.Agent
	runtime  *satchel.Runtime
	show     *reporter
	reported int
}

// Plan is the agent's, with better results.
func (a *stepAgent) Plan(ctx context.Context, steps []schema.AgentStep, inputs map[string]string, options ...chains.ChainCallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	if len(steps) == 0 {
		a.reported = 0
	}
	steps = a.report(steps)
	return a.Agent.Plan(ctx, steps, inputs, options...)
}

// report shows the steps that were not shown yet and returns all of them with
// their better results.
func (a *stepAgent) report(steps []schema.AgentStep) []schema.AgentStep {
	steps = slices.Clone(steps)
	for i := range steps {
		action := &steps[i].Action
		if !a.has(action.Tool) {
			steps[i].Observation = unknownTool(a.runtime, action.Tool)
		}
		if i >= a.reported {
			a.show.ToolResult(core.ToolCall{ID: action.ToolID, Name: action.Tool}, steps[i].Observation)
		}
	}
	a.reported = len(steps)
	return steps
}

// has finds a tool as the executor does, whatever its case.
func (a *stepAgent) has(name string) bool {
	return slices.ContainsFunc(a.runtime.Tools(), func(t core.Tool) bool { return strings.EqualFold(t.Name, name) })
}

// reportingModel reports every response before the executor acts on it, with the
// ids that its calls have in the next request. The framework's callbacks tell
// neither the usage nor an id.
type reportingModel struct {
	llms.Model
	show *reporter
}

// GenerateContent is the model's, reported.
func (m reportingModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	resp, err := m.Model.GenerateContent(ctx, messages, options...)
	if err != nil || len(resp.Choices) == 0 {
		return resp, err
	}
	choice := resp.Choices[0]
	m.show.Usage(core.Usage{
		Prompt:     count(choice.GenerationInfo, "PromptTokens"),
		Cached:     count(choice.GenerationInfo, "PromptCachedTokens"),
		Completion: count(choice.GenerationInfo, "CompletionTokens"),
	})
	if len(choice.ToolCalls) == 0 {
		return resp, nil
	}
	m.show.Text(choice.Content)
	for _, c := range choice.ToolCalls {
		if c.FunctionCall != nil {
			m.show.ToolCall(core.ToolCall{ID: c.ID, Name: c.FunctionCall.Name, Arguments: c.FunctionCall.Arguments})
		}
	}
	return resp, nil
}

func count(info map[string]any, key string) int {
	n, _ := info[key].(int)
	return n
}
