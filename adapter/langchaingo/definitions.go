package langchaingo

import (
	"encoding/json"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// definitions returns the definitions of the tools that a call offers the model, or nil if the
// runtime has neither a prefix guard nor a tracer. It does not know tools that are a client's own
// default.
func (a *Adapter) definitions(callOptions *llms.CallOptions) []core.Definition {
	if !a.hooks.WatchesPrefix() {
		return nil
	}
	probe := *callOptions
	a.offer.rewrite(&probe, false)
	return definitionsOf(probe.Tools)
}

// noSchema is the schema of a tool without parameters, as clients send it.
var noSchema = json.RawMessage("null")

// definitionsOf converts the definitions of tools.
func definitionsOf(tools []llms.Tool) []core.Definition {
	definitions := make([]core.Definition, 0, len(tools))
	for _, t := range tools {
		d := core.Definition{Name: t.Type}
		if t.Function != nil {
			d = core.Definition{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters}
		}
		if d.Schema == nil {
			d.Schema = noSchema
		}
		definitions = append(definitions, d)
	}
	return definitions
}
