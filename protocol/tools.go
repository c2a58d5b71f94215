package protocol

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/protocol/run"
)

// Tool is one of the tools that a model is offered.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

//go:embed tools.json
var toolText []byte

// Tools are the tools for a model, by the methods of the same names, in a fixed
// order. run_code names the languages of this machine.
func (s *Server) Tools() []Tool {
	text := toolText
	if list := run.Languages(); len(list) > 0 {
		names, _ := json.Marshal(list)
		text = []byte(strings.Replace(string(text), `["python"]`, string(names), 1))
	}
	var all []Tool
	if json.Unmarshal(text, &all) != nil {
		return nil // the text is this package's own, and tested
	}
	return slices.Clip(all)
}
