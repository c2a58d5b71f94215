package eino

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// skillTool is one of the runtime's tools in Eino's form.
type skillTool struct {
	adapter *Adapter
	info    schema.ToolInfo
}

var _ tool.InvokableTool = (*skillTool)(nil)

func newSkillTool(a *Adapter, t core.Tool) (*skillTool, error) {
	params, err := parameters(t.Schema)
	if err != nil {
		return nil, err
	}
	info := schema.ToolInfo{Name: t.Name, Desc: t.Description, ParamsOneOf: params}
	return &skillTool{adapter: a, info: info}, nil
}

// parameters passes a JSON Schema on as it is. The other form that Eino has,
// ParameterInfo, cannot express defaults, alternatives or numeric bounds.
func parameters(raw json.RawMessage) (*schema.ParamsOneOf, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("decode schema: %w", err)
	}
	return schema.NewParamsOneOfByJSONSchema(&s), nil
}

// Info returns the tool's definition, the same at every call.
func (t *skillTool) Info(context.Context) (*schema.ToolInfo, error) {
	info := t.info
	return &info, nil
}

// InvokableRun answers a call. It runs the very call that the middleware had
// judged; one that came without the middleware, or that another middleware has
// changed since, is judged here. What the model can act on is text; an error ends
// the agent's run.
func (t *skillTool) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	ctx, key, err := t.adapter.enter(ctx)
	if err != nil {
		return "", err
	}
	made := core.ToolCall{ID: compose.GetToolCallID(ctx), Name: t.info.Name, Arguments: arguments}
	if call, ok := ctx.Value(callKey{}).(*satchel.Call); ok && call.Key() == key && call.ToolCall() == made {
		return call.Run(ctx)
	}
	return t.adapter.rt.CallTool(ctx, key, made)
}
