package langchaingo

import (
	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// definitions describes the tools that a call offers the model to a runtime that
// watches the prefix; for any other it does nothing. Tools that are a client's own
// default are not known here.
func (a *Adapter) definitions(asked *llms.CallOptions) []core.Definition {
	if !a.hooks.WatchesPrefix() {
		return nil
	}
	probe := *asked
	a.offer.rewrite(&probe, false)
	definitions := make([]core.Definition, 0, len(probe.Tools))
	for _, t := range probe.Tools {
		d := core.Definition{Name: t.Type}
		if t.Function != nil {
			d = core.Definition{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters}
		}
		definitions = append(definitions, d)
	}
	return definitions
}
