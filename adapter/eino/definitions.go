package eino

import (
	"encoding/json"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// definitions describes the tools that the model is offered to a runtime that
// watches the prefix; for any other it does nothing.
func (a *Adapter) definitions(tools []*schema.ToolInfo) []core.Definition {
	if !a.hooks.WatchesPrefix() || len(tools) == 0 {
		return nil
	}
	definitions := make([]core.Definition, 0, len(tools))
	for _, t := range tools {
		if t == nil {
			continue
		}
		d := core.Definition{Name: t.Name, Description: t.Desc}
		if t.ParamsOneOf != nil {
			d.Schema = (*params)(t.ParamsOneOf)
		}
		definitions = append(definitions, d)
	}
	return definitions
}

// params are parameters that marshal to the schema that a model is sent.
type params schema.ParamsOneOf

func (p *params) MarshalJSON() ([]byte, error) {
	s, err := (*schema.ParamsOneOf)(p).ToJSONSchema()
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}
