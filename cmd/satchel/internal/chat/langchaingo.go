package chat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
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

// langchainAgent is an executor; the adapter keeps its turns.
type langchainAgent struct {
	executor *agents.Executor
	steps    *stepAgent
}

func newLangchainAgent(_ context.Context, rt *satchel.Runtime, where Endpoint, f *Flags, earlier *history, show *reporter) (agent, error) {
	llm, err := langchainModel(where, f, "")
	if err != nil {
		return nil, err
	}
	history := &langchainHistory{ChatMessageHistory: memory.NewChatMessageHistory(), history: earlier}
	opts := []langchaingo.Option{
		langchaingo.WithAgentName(agentName),
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
	helpers, err := langchainHelpers(where, f)
	if err != nil {
		return nil, err
	}
	adapter, err := langchaingo.Install(rt, llm, helpers, opts...)
	if err != nil {
		return nil, fmt.Errorf("install skills: %w", err)
	}
	inner := agents.NewOpenAIFunctionsAgent(reportingModel{adapter.Model(), show}, adapter.Tools())
	if f.System == "" {
		inner.Prompt = noSystem()
	}
	var made agents.Agent = inner
	switch f.Agent {
	case "mrkl":
		made = agents.NewOneShotAgent(reportingModel{adapter.Model(), show}, adapter.Tools())
	case "conversational":
		made = agents.NewConversationalAgent(reportingModel{adapter.Model(), show}, adapter.Tools())
	}
	steps := &stepAgent{Agent: adapter.Agent(made), runtime: rt, helpers: f.helpers, show: show}
	executor := agents.NewExecutor(steps, agents.WithMaxIterations(f.MaxSteps), agents.WithReturnIntermediateSteps())
	return &langchainAgent{executor: executor, steps: steps}, nil
}

// langchainModel connects to the model for an agent of --sub-agent, or for the agent itself if the
// name is "".
func langchainModel(where Endpoint, f *Flags, helper string) (llms.Model, error) {
	llm, err := openai.New(openai.WithBaseURL(where.URL), openai.WithToken(where.Key), openai.WithModel(where.Model),
		openai.WithHTTPClient(&http.Client{Transport: langchaingo.LongLines(f.roundTripper(helper))}))
	if err != nil {
		return nil, fmt.Errorf("connect to model: %w", err)
	}
	return namedLangchain{llm, where.Model}, nil
}

// namedLangchain is a model that names itself, for a trace.
type namedLangchain struct {
	*openai.LLM
	name string
}

// ModelName returns the name that the endpoint knows.
func (m namedLangchain) ModelName() string { return m.name }

// langchainHistory gives the framework the saved turns.
type langchainHistory struct {
	*memory.ChatMessageHistory
	history *history
}

var _ langchaingo.TurnHistory = (*langchainHistory)(nil)

// Messages returns the messages of all turns.
func (h *langchainHistory) Messages(context.Context) ([]llms.ChatMessage, error) {
	all := make([]llms.ChatMessage, 0, len(h.history.messages))
	for _, m := range h.history.messages {
		switch m.Role {
		case roleUser:
			all = append(all, llms.HumanChatMessage{Content: m.Text})
		case roleTool:
			all = append(all, llms.ToolChatMessage{ID: m.CallID, Content: m.Text})
		default:
			said := llms.AIChatMessage{Content: m.Text}
			for _, c := range m.Calls {
				said.ToolCalls = append(said.ToolCalls, llms.ToolCall{
					ID: c.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: c.Arguments},
				})
			}
			all = append(all, said)
		}
	}
	return all, nil
}

// AddTurn saves a turn.
func (h *langchainHistory) AddTurn(_ context.Context, messages []llms.ChatMessage) error {
	turn := make([]savedMessage, 0, len(messages))
	var names map[string]string // of the tools of the last response, by the ids of the calls
	for _, m := range messages {
		switch p := m.(type) {
		case llms.AIChatMessage:
			one := savedMessage{Role: roleAssistant, Text: p.Content}
			names = map[string]string{}
			for _, c := range p.ToolCalls {
				one.Calls = append(one.Calls, savedCall{ID: c.ID, Name: c.FunctionCall.Name, Arguments: c.FunctionCall.Arguments})
				names[c.ID] = c.FunctionCall.Name
			}
			turn = append(turn, one)
		case llms.ToolChatMessage:
			turn = append(turn, savedMessage{Role: roleTool, Text: p.Content, CallID: p.ID, Tool: names[p.ID]})
		default:
			turn = append(turn, savedMessage{Role: roleUser, Text: m.GetContent()})
		}
	}
	return h.history.add(turn)
}

// noSystem is the agent's prompt without its default system message, which no option
// removes.
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

// stepAgent reports the results of the steps. For an unknown tool it reports the answer of the adapter,
// which says more than that of the executor.
type stepAgent struct {
	agents.Agent
	runtime  *satchel.Runtime
	helpers  map[string]*satchel.Runtime // tools too, by name
	show     *reporter
	reported int
}

// Plan calls the agent with the improved results.
func (a *stepAgent) Plan(ctx context.Context, steps []schema.AgentStep, inputs map[string]string, options ...chains.ChainCallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	if len(steps) == 0 {
		a.reported = 0
	}
	steps = a.report(steps)
	return a.Agent.Plan(ctx, steps, inputs, options...)
}

// report shows the steps that have not been shown and returns all steps with
// improved results.
func (a *stepAgent) report(steps []schema.AgentStep) []schema.AgentStep {
	steps = slices.Clone(steps)
	for i := range steps {
		action := &steps[i].Action
		if !a.has(action.Tool) {
			steps[i].Observation = a.runtime.Hooks().UnknownTool(action.Tool, slices.Sorted(maps.Keys(a.helpers))...)
		}
		if i >= a.reported {
			a.show.ToolResult(core.ToolCall{ID: action.ToolID, Name: action.Tool}, steps[i].Observation)
		}
	}
	a.reported = len(steps)
	return steps
}

// has reports whether the executor knows a tool. It ignores case, as the executor does.
func (a *stepAgent) has(name string) bool {
	for helper := range a.helpers {
		if strings.EqualFold(helper, name) {
			return true
		}
	}
	return slices.ContainsFunc(a.runtime.Tools(), func(t core.Tool) bool { return strings.EqualFold(t.Name, name) })
}

// reportingModel reports every response before the executor acts on it, with the ids
// that its calls have in the next request. The callbacks of the framework have neither
// usage nor ids.
type reportingModel struct {
	llms.Model
	show *reporter
}

// GenerateContent calls the model and reports its response.
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
