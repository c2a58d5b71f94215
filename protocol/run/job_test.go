package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/shelf"
)

// TestInputsFitTheirTypes gives inputs of every type values of every kind.
func TestInputsFitTheirTypes(t *testing.T) {
	values := map[string]string{
		"text": `"x"`, "blob": `"` + blobs.NewID() + `"`, "whole": `3`, "half": `0.5`, "truth": `true`, "list": `[1]`, "object": `{"a":1}`,
	}
	const all = "text blob whole half truth list object"
	for kind, takes := range map[string]string{
		"string": "text blob", "blob": "blob", "number": "whole half", "float": "whole half", "integer": "whole", "int": "whole",
		"boolean": "truth", "bool": "truth", "array": "list", "list": "list", "object": "object", "": all, "any": all, "date": all, "json": all,
	} {
		job := &Job{Skill: &shelf.Skill{Manifest: shelf.Manifest{Inputs: []shelf.Input{{Name: "in", Type: kind}}}}}
		for name, value := range values {
			job.Args = json.RawMessage(`{"in":` + value + `}`)
			failure := job.checkInputs()
			if want := strings.Contains(" "+takes+" ", " "+name+" "); want != (failure == nil) {
				t.Errorf("input of type %q with %s: %+v", kind, value, failure)
			}
		}
	}
}
