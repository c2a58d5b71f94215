package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/tools"
)

// einoAdapter returns Satchel in an agent of Eino's adk.
func einoAdapter() System {
	return System{Name: "satchel-eino", Variant: "adaptive/tool-result", Adapter: true, play: func(ctx context.Context, s *stage) error {
		rt, err := satchel.New(satchel.WithSkillDirs(s.skills), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), satchel.WithStore(s.store))
		if err != nil {
			return err
		}
		defer rt.Close()
		return s.playEino(satchel.WithSession(ctx, s.Name), satchelCalls, func(cfg *adk.ChatModelAgentConfig) error {
			_, err := eino.Install(cfg, rt)
			return err
		})
	}}
}

// playEino plays through an agent of adk. prepare adds the skills to its configuration.
func (s *stage) playEino(ctx context.Context, speak vocabulary, prepare func(*adk.ChatModelAgentConfig) error) error {
	cfg := &adk.ChatModelAgentConfig{
		Name: "agent", Description: "An agent.", Instruction: s.Instruction,
		Model: &einoModel{stage: s, speak: speak}, MaxIterations: maxIterations,
	}
	// Eino reports the results of calls that it executes in parallel in whatever
	// order they end; one after the other they come in the order of the calls.
	cfg.ToolsConfig.ExecuteSequentially = true
	for _, t := range s.Tools {
		cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, &einoTool{stage: s, definition: t})
	}
	if err := errors.Join(prepare(cfg), distinct(ctx, cfg)); err != nil {
		return err
	}
	var history []*schema.Message
	for turn := range s.Turns {
		agent, err := adk.NewChatModelAgent(ctx, cfg)
		if err != nil {
			return err
		}
		history = append(history, schema.UserMessage(s.begin(turn)))
		events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Run(ctx, history)
		for event, ok := events.Next(); ok; event, ok = events.Next() {
			if event.Err != nil {
				return event.Err
			}
			message, _, err := adk.GetMessage(event)
			if err != nil {
				return err
			}
			if message != nil {
				history = append(history, message)
			}
		}
	}
	return nil
}

// distinct returns an error if two tools of an agent have the same name, one of
// which Eino would call for both.
func distinct(ctx context.Context, cfg *adk.ChatModelAgentConfig) error {
	all := slices.Clone(cfg.ToolsConfig.Tools)
	for _, m := range cfg.Middlewares {
		all = append(all, m.AdditionalTools...)
	}
	seen := map[string]bool{}
	for _, t := range all {
		info, err := t.Info(ctx)
		if err != nil {
			return err
		}
		if seen[info.Name] {
			return fmt.Errorf("two tools are named %q", info.Name)
		}
		seen[info.Name] = true
	}
	return nil
}

// maxIterations is more model calls than any turn of a script makes.
const maxIterations = 10_000

// einoModel is the script as a model of Eino.
type einoModel struct {
	stage *stage
	speak vocabulary
	bound []*schema.ToolInfo
}

func (m *einoModel) WithTools(bound []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	return &einoModel{m.stage, m.speak, bound}, nil
}

func (m *einoModel) Generate(_ context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	offered := m.bound
	if given := model.GetCommonOptions(nil, opts...).Tools; given != nil {
		offered = given
	}
	var definitions []prompt.Tool
	for _, info := range offered {
		s, err := info.ToJSONSchema()
		if err != nil {
			return nil, fmt.Errorf("schema of %q: %w", info.Name, err)
		}
		t, err := define(info.Name, info.Desc, s)
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, t)
	}
	var messages []prompt.Message
	for _, in := range input {
		out := prompt.Message{Role: string(in.Role), Content: in.Content, CallID: in.ToolCallID, Name: in.ToolName}
		for _, c := range in.ToolCalls {
			out.Calls = append(out.Calls, prompt.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		messages = append(messages, out)
	}
	a := m.stage.send(definitions, messages, m.speak)
	var calls []schema.ToolCall
	for _, c := range a.calls {
		calls = append(calls, schema.ToolCall{ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
	}
	return schema.AssistantMessage(a.say, calls), nil
}

func (m *einoModel) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	message, err := m.Generate(ctx, input, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{message}), nil
}

// einoTool is a tool of the host that answers as the script says.
type einoTool struct {
	stage      *stage
	definition prompt.Tool
}

var _ tool.InvokableTool = (*einoTool)(nil)

func (t *einoTool) Info(context.Context) (*schema.ToolInfo, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(t.definition.Parameters, &s); err != nil {
		return nil, fmt.Errorf("schema of %q: %w", t.definition.Name, err)
	}
	return &schema.ToolInfo{
		Name: t.definition.Name, Desc: t.definition.Description,
		ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&s),
	}, nil
}

func (t *einoTool) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	return t.stage.result(compose.GetToolCallID(ctx))
}
