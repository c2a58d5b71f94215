package eino

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

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

// parameters converts a JSON Schema. It avoids ParameterInfo, Eino's other form, which cannot
// express defaults, alternatives or numeric bounds.
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
