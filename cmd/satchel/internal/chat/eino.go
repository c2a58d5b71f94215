package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	einomodel "github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	satcheleino "github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

// einoAgent is a ChatModelAgent with the history that each turn sends.
type einoAgent struct {
	runner  *adk.Runner
	history *history
	show    *reporter
	// turn holds the messages of the current turn.
	turn []savedMessage

	// responses counts the messages of the assistant in the request. calls are those of the last
	// message, and results their results by id.
	responses int
	calls     []schema.ToolCall
	results   map[string]string
	// unknown returns the answer of the adapter to a call of an unknown tool. Eino has no event for
	// it.
	unknown func(tool string) (answer string, ok bool)
}

func newEinoAgent(ctx context.Context, rt *satchel.Runtime, where Endpoint, f *Flags, earlier *history, show *reporter) (agent, error) {
	model, err := einoModel(ctx, where, f, "")
	if err != nil {
		return nil, err
	}
	a := &einoAgent{show: show, history: earlier, results: map[string]string{}}
	helpers := slices.Sorted(maps.Keys(f.helpers))
	a.unknown = func(tool string) (string, bool) {
		return rt.Hooks().UnknownTool(tool, helpers...), !rt.Hooks().Owns(tool)
	}
	cfg := &adk.ChatModelAgentConfig{
		Name:          agentName,
		Description:   "Answers with the help of skills.",
		Model:         model,
		GenModelInput: verbatim(f.System),
		MaxIterations: f.MaxSteps,
	}
	for _, name := range helpers {
		helper, err := newHelper(ctx, where, name, f)
		if err != nil {
			return nil, fmt.Errorf("make agent %s: %w", name, err)
		}
		cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, helper)
	}
	if _, err := satcheleino.Install(cfg, rt); err != nil {
		return nil, fmt.Errorf("install skills: %w", err)
	}
	chat, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("make agent: %w", err)
	}
	a.runner = adk.NewRunner(ctx, adk.RunnerConfig{Agent: chat, EnableStreaming: f.Stream})
	return a, nil
}

// einoModel connects to the model for an agent of --sub-agent, or for the agent itself if the name
// is "".
func einoModel(ctx context.Context, where Endpoint, f *Flags, helper string) (einomodel.ToolCallingChatModel, error) {
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		BaseURL: where.URL, APIKey: where.Key, Model: where.Model, HTTPClient: &http.Client{Transport: f.roundTripper(helper)},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to model: %w", err)
	}
	return namedEino{model, where.Model}, nil
}

// namedEino is a model that names itself, for a trace.
type namedEino struct {
	*openai.ChatModel
	name string
}

// ModelName returns the name that the endpoint knows.
func (m namedEino) ModelName() string { return m.name }

// WithTools binds tools.
func (m namedEino) WithTools(tools []*schema.ToolInfo) (einomodel.ToolCallingChatModel, error) {
	bound, err := m.ChatModel.WithTools(tools)
	if model, ok := bound.(*openai.ChatModel); ok && err == nil {
		return namedEino{model, m.name}, nil
	}
	return bound, err
}

// newHelper makes an agent that the model can call as a tool.
func newHelper(ctx context.Context, where Endpoint, name string, f *Flags) (tool.BaseTool, error) {
	model, err := einoModel(ctx, where, f, name)
	if err != nil {
		return nil, err
	}
	cfg := &adk.ChatModelAgentConfig{
		Name:          name,
		Description:   "Answers a request with the help of skills of its own.",
		Model:         model,
		GenModelInput: verbatim(f.System),
		MaxIterations: f.MaxSteps,
	}
	if _, err := satcheleino.Install(cfg, f.helpers[name]); err != nil {
		return nil, err
	}
	helper, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return adk.NewAgentTool(ctx, helper), nil
}

// verbatim puts the system text in front of the messages. Eino's own function
// treats it as a template once there are session values.
func verbatim(system string) adk.GenModelInput {
	return func(_ context.Context, _ string, input *adk.AgentInput) ([]adk.Message, error) {
		if system == "" {
			return input.Messages, nil
		}
		return append([]adk.Message{schema.SystemMessage(system)}, input.Messages...), nil
	}
}

// Turn runs the agent.
func (a *einoAgent) Turn(ctx context.Context, prompt string) (string, error) {
	a.turn = []savedMessage{{Role: roleUser, Text: prompt}}
	last, err := a.run(ctx, einoMessages(append(slices.Clone(a.history.messages), a.turn...)))
	if errors.Is(err, adk.ErrExceedMaxIterations) {
		return "", errSteps
	}
	if err != nil {
		return "", err
	}
	answer := savedMessage{Role: roleAssistant, Text: last.Content, Reasoning: last.ReasoningContent}
	return last.Content, a.history.add(append(a.turn, answer))
}

// einoMessages returns saved messages as messages of Eino.
func einoMessages(all []savedMessage) []*schema.Message {
	messages := make([]*schema.Message, 0, len(all))
	for _, m := range all {
		switch m.Role {
		case roleUser:
			messages = append(messages, schema.UserMessage(m.Text))
		case roleTool:
			messages = append(messages, schema.ToolMessage(m.Text, m.CallID, schema.WithToolName(m.Tool)))
		default:
			var calls []schema.ToolCall
			for _, c := range m.Calls {
				calls = append(calls, schema.ToolCall{Index: c.Index, ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
			}
			said := schema.AssistantMessage(m.Text, calls)
			said.ReasoningContent = m.Reasoning
			messages = append(messages, said)
		}
	}
	return messages
}

// run follows the events of one run and returns its last message.
func (a *einoAgent) run(ctx context.Context, input []*schema.Message) (*schema.Message, error) {
	var last *schema.Message
	var failed error
	a.responses = 0
	for _, m := range input {
		if m.Role == schema.Assistant {
			a.responses++
		}
	}
	events := a.runner.Run(ctx, input)
	for {
		// Events are read after an error too, because every stream of the run must
		// be read to its end.
		e, ok := events.Next()
		if !ok {
			break
		}
		m, err := a.follow(e)
		if err != nil && failed == nil {
			failed = err
		}
		if m != nil {
			last = m
		}
	}
	a.reportResults()
	if failed == nil && last == nil {
		failed = errors.New("the run ended without an answer")
	}
	return last, failed
}

// follow reports an event and returns its message if it is the model's.
func (a *einoAgent) follow(e *adk.AgentEvent) (*schema.Message, error) {
	if e.Err != nil {
		return nil, e.Err
	}
	if e.Output == nil || e.Output.MessageOutput == nil {
		return nil, nil
	}
	if e.Output.MessageOutput.Role == schema.Assistant {
		a.reportResults()
	}
	m, err := a.receive(e.Output.MessageOutput)
	if err != nil {
		return nil, err
	}
	if m.Role == schema.Tool {
		a.results[m.ToolCallID] = m.Content
		return nil, nil
	}
	if meta := m.ResponseMeta; meta != nil && meta.Usage != nil {
		a.show.Usage(core.Usage{
			Prompt:     meta.Usage.PromptTokens,
			Cached:     meta.Usage.PromptTokenDetails.CachedTokens,
			Completion: meta.Usage.CompletionTokens,
		})
	}
	if len(m.ToolCalls) == 0 {
		return m, nil // Turn's caller shows it
	}
	m = a.withRequestIDs(m)
	a.show.Text(m.Content)
	for _, c := range m.ToolCalls {
		a.show.ToolCall(core.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	a.calls = m.ToolCalls
	asked := savedMessage{Role: roleAssistant, Text: m.Content, Reasoning: m.ReasoningContent}
	for _, c := range m.ToolCalls {
		arguments := cmp.Or(c.Function.Arguments, "{}") // as the adapter sends it
		asked.Calls = append(asked.Calls, savedCall{Index: c.Index, ID: c.ID, Name: c.Function.Name, Arguments: arguments})
	}
	a.turn = append(a.turn, asked)
	return m, nil
}

// withRequestIDs returns a response with the ids that its calls have in the next request. The
// event has the provider's ids, which may be missing or repeated.
func (a *einoAgent) withRequestIDs(m *schema.Message) *schema.Message {
	named := *m
	named.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range named.ToolCalls {
		taken := func(id string) bool {
			return slices.ContainsFunc(named.ToolCalls[:i], func(c schema.ToolCall) bool { return c.ID == id })
		}
		named.ToolCalls[i].ID = core.ToolCall{ID: m.ToolCalls[i].ID}.UniqueID(a.responses, i, taken)
	}
	a.responses++
	return &named
}

// reportResults shows and keeps the results of the last response in the order of its
// calls.
func (a *einoAgent) reportResults() {
	for _, c := range a.calls {
		result, ok := a.results[c.ID]
		if !ok {
			result, ok = a.unknown(c.Function.Name)
		}
		if ok {
			a.show.ToolResult(core.ToolCall{ID: c.ID, Name: c.Function.Name}, result)
			a.turn = append(a.turn, savedMessage{Role: roleTool, Text: result, CallID: c.ID, Tool: c.Function.Name})
		}
	}
	a.calls = nil
	clear(a.results)
}

// receive returns the whole message. It reports the text of a streamed message as
// the pieces arrive.
func (a *einoAgent) receive(out *adk.MessageVariant) (*schema.Message, error) {
	if !out.IsStreaming {
		return out.Message, nil
	}
	defer out.MessageStream.Close()
	var chunks []*schema.Message
	for {
		chunk, err := out.MessageStream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if chunk == nil {
			continue
		}
		if out.Role == schema.Assistant {
			a.show.Delta(chunk.Content)
		}
		chunks = append(chunks, chunk)
	}
	if len(chunks) == 0 {
		return nil, errors.New("the model's stream ended without a message")
	}
	return schema.ConcatMessages(chunks)
}
