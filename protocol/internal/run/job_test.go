package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
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
		job := &Job{Skill: &skillset.Skill{Manifest: skillset.Manifest{Inputs: []skillset.Input{{Name: "in", Type: kind}}}}}
		for name, value := range values {
			job.Args = json.RawMessage(`{"in":` + value + `}`)
			failure := job.checkInputs()
			if want := strings.Contains(" "+takes+" ", " "+name+" "); want != (failure == nil) {
				t.Errorf("input of type %q with %s: %+v", kind, value, failure)
			}
		}
	}
}

// TestInputsAreInformal checks jobs with and without arguments. Only required ones must be present,
// and a default replaces an absent one.
func TestInputsAreInformal(t *testing.T) {
	const large = "9007199254740993"
	for _, c := range []struct {
		in         skillset.Input
		args, want string // the arguments of the run, or the error
	}{
		{skillset.Input{Type: "string"}, `{}`, `{}`},
		{skillset.Input{Type: "string"}, ``, ``},
		{skillset.Input{Type: "string", Description: "a word"}, `{"o": 1}`, "args.o: want string, a word"},
		{skillset.Input{Type: "string", Required: true}, `{"o": null}`, "args.o is missing: want string"},
		{skillset.Input{Required: true}, ``, "args.o is missing: want a value"},
		{skillset.Input{Type: "string", Default: "x"}, ``, `{"o":"x"}`},
		{skillset.Input{Type: "string", Default: "x", Required: true}, `{"o": null, "n": ` + large + `}`, `{"n":` + large + `,"o":"x"}`},
		{skillset.Input{Type: "boolean", Default: false}, `{}`, `{"o":false}`},
		{skillset.Input{Type: "string", Default: "x"}, `{"o": "y"}`, `{"o": "y"}`},
		{skillset.Input{Enum: []any{"a", int64(2)}}, `{"o": 2}`, `{"o": 2}`},
		{skillset.Input{Enum: []any{"a", int64(2)}}, `{"o": "b"}`, `args.o: want one of ["a",2]`},
		{skillset.Input{Enum: []any{"a"}}, `{}`, `{}`},
	} {
		c.in.Name = "o"
		job := &Job{Skill: &skillset.Skill{Manifest: skillset.Manifest{Inputs: []skillset.Input{c.in}}}, Args: json.RawMessage(c.args)}
		got := ""
		if failure := job.checkInputs(); failure != nil {
			got = failure.Message
		} else {
			got = string(job.Args)
		}
		if got != c.want {
			t.Errorf("%+v with %s: %s, want %s", c.in, c.args, got, c.want)
		}
	}
}
