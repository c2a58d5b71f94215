package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Definition returns the canonical text of a tool: its name, description and parameters as JSON
// with sorted keys, without white space and without escapes for HTML. So clients that order or
// escape JSON differently get the same text.
func Definition(t Tool) (string, error) {
	tool := map[string]any{"name": t.Name, "description": t.Description}
	if len(t.Parameters) > 0 {
		d := json.NewDecoder(bytes.NewReader(t.Parameters))
		d.UseNumber()
		var parameters any
		if err := d.Decode(&parameters); err != nil {
			return "", fmt.Errorf("parameters of tool %q: %w", t.Name, err)
		}
		tool["parameters"] = parameters
	}
	return plainjson.Encode(tool)
}
