package replay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"
	lctools "github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/tools"
)

// langchaingoAdapter returns Satchel in a loop of the host around a langchaingo model. It uses no
// executor of langchaingo, because executors do not keep calls for the next turn.
func langchaingoAdapter() System {
	return System{Name: "satchel-langchaingo", Variant: "adaptive/tool-result", Adapter: true, play: playLangchaingo}
}

func playLangchaingo(ctx context.Context, s *stage) error {
	rt, err := satchel.New(satchel.WithSkillDirs(s.skills), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), satchel.WithStore(s.store))
	if err != nil {
		return err
	}
	defer rt.Close()
	var own []lctools.Tool
	var offered []llms.Tool
	for _, t := range s.Tools {
		own = append(own, &chainTool{s, t})
		offered = append(offered, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	adapter, err := langchaingo.Install(rt, &chainModel{s}, own)
	if err != nil {
		return err
	}
	ctx = satchel.WithSession(ctx, s.Name)
	var history []llms.MessageContent
	if s.Instruction != "" {
		history = append(history, llms.TextParts(llms.ChatMessageTypeSystem, s.Instruction))
	}
	for turn := range s.Turns {
		history = append(history, llms.TextParts(llms.ChatMessageTypeHuman, s.begin(turn)))
		if history, err = chainTurn(ctx, adapter, history, offered); err != nil {
			return err
		}
	}
	return nil
}

// chainTurn calls the model and its tools until the model ends the turn.
func chainTurn(ctx context.Context, adapter *langchaingo.Adapter, history []llms.MessageContent, offered []llms.Tool) ([]llms.MessageContent, error) {
	for {
		resp, err := adapter.Model().GenerateContent(ctx, history, llms.WithTools(offered))
		if err != nil {
			return nil, err
		}
		choice := resp.Choices[0]
		said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		if choice.Content != "" {
			said.Parts = append(said.Parts, llms.TextContent{Text: choice.Content})
		}
		for _, c := range choice.ToolCalls {
			said.Parts = append(said.Parts, c)
		}
		history = append(history, said)
		if len(choice.ToolCalls) == 0 {
			return history, nil
		}
		for _, c := range choice.ToolCalls {
			result, err := adapter.Call(withCall(ctx, c.ID), c)
			if err != nil {
				return nil, err
			}
			history = append(history, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
		}
	}
}

type callKey struct{}

// withCall puts the id of a call into the context for a tool of the host, because langchaingo does
// not pass it.
func withCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// chainTool is a tool of the host that answers as the script says.
type chainTool struct {
	stage      *stage
	definition prompt.Tool
}

func (t *chainTool) Name() string            { return t.definition.Name }
func (t *chainTool) Description() string     { return t.definition.Description }
func (t *chainTool) Schema() json.RawMessage { return t.definition.Parameters }

func (t *chainTool) Call(ctx context.Context, _ string) (string, error) {
	id, _ := ctx.Value(callKey{}).(string)
	return t.stage.result(id)
}

// chainModel is the script as a model of langchaingo.
type chainModel struct{ stage *stage }

func (m *chainModel) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("the script answers messages only")
}

func (m *chainModel) GenerateContent(_ context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var opts llms.CallOptions
	for _, o := range options {
		o(&opts)
	}
	var tools []prompt.Tool
	for _, t := range opts.Tools {
		d, err := define(t.Function.Name, t.Function.Description, t.Function.Parameters)
		if err != nil {
			return nil, err
		}
		tools = append(tools, d)
	}
	var request []prompt.Message
	for _, message := range messages {
		request = append(request, chainMessage(message))
	}
	a := m.stage.send(tools, request, satchelCalls)
	choice := &llms.ContentChoice{Content: a.say, StopReason: "stop"}
	for _, c := range a.calls {
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{
			ID: c.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: c.Arguments},
		})
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// roles are langchaingo's in the words of the OpenAI chat format.
var roles = map[llms.ChatMessageType]string{
	llms.ChatMessageTypeSystem: "system",
	llms.ChatMessageTypeHuman:  "user",
	llms.ChatMessageTypeAI:     "assistant",
	llms.ChatMessageTypeTool:   "tool",
}

func chainMessage(m llms.MessageContent) prompt.Message {
	out := prompt.Message{Role: roles[m.Role]}
	var text strings.Builder
	for _, part := range m.Parts {
		switch p := part.(type) {
		case llms.TextContent:
			text.WriteString(p.Text)
		case llms.ToolCall:
			out.Calls = append(out.Calls, prompt.Call{ID: p.ID, Name: p.FunctionCall.Name, Arguments: p.FunctionCall.Arguments})
		case llms.ToolCallResponse:
			text.WriteString(p.Content)
			out.CallID, out.Name = p.ToolCallID, p.Name
		}
	}
	out.Content = text.String()
	return out
}
