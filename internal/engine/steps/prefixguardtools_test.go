package steps

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/processors"
)

type schemaOf struct{ Text string }

type noSchema struct{}

func (noSchema) MarshalJSON() ([]byte, error) { return nil, errors.New("no schema") }

// Tools stand before all messages: a change of them is a break of everything.
func TestPrefixGuardOfTools(t *testing.T) {
	long := &schemaOf{strings.Repeat("p", 400)}
	f, h := core.Definition{Name: "f", Description: "d", Schema: long}, core.Definition{Name: "h", Schema: map[string]any{"b": 1, "a": 2}}
	with := func(d core.Definition, change func(*core.Definition)) core.Definition { change(&d); return d }
	tool := func(d core.Definition) int { return len(definitionText(&d)) }
	view := 0
	for _, m := range request() {
		view += sizeOf(&m)
	}
	for name, tt := range map[string]struct {
		was, now []core.Definition
		size     int // -1: no break
	}{
		"the same":         {[]core.Definition{f, h}, []core.Definition{f, h}, -1},
		"none":             {nil, []core.Definition{}, -1},
		"the same JSON":    {[]core.Definition{f, h}, []core.Definition{with(f, func(d *core.Definition) { d.Schema = schemaOf{long.Text} }), with(h, func(d *core.Definition) { d.Schema = json.RawMessage(`{"a":2,"b":1}`) })}, -1},
		"never a schema":   {[]core.Definition{{Name: "f", Schema: noSchema{}}}, []core.Definition{{Name: "f", Schema: noSchema{}}}, -1},
		"added":            {[]core.Definition{f}, []core.Definition{f, h}, view},
		"the first":        {nil, []core.Definition{f}, view},
		"removed":          {[]core.Definition{f, h}, []core.Definition{f}, view},
		"removed in front": {[]core.Definition{h, f}, []core.Definition{f}, view + tool(f)},
		"all removed":      {[]core.Definition{f}, nil, view},
		"moved":            {[]core.Definition{f, h}, []core.Definition{h, f}, view + tool(f) + tool(h)},
		"renamed":          {[]core.Definition{f, h}, []core.Definition{with(f, func(d *core.Definition) { d.Name = "g" }), h}, view + tool(f) - 1 + tool(h)},
		"described anew":   {[]core.Definition{h, f}, []core.Definition{h, with(f, func(d *core.Definition) { d.Description = "e" })}, view + tool(f) - len("f\nd")},
		"another schema":   {[]core.Definition{h}, []core.Definition{with(h, func(d *core.Definition) { d.Schema = nil })}, view},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &state.Record{}
			var g PrefixGuard
			if b, broken := g.Check(request(), rec, tt.was...); broken {
				t.Fatalf("the first request: %+v", b)
			}
			b, broken := g.Check(request(), rec, tt.now...)
			if want := (processors.PrefixBreak{Cause: causeTools, Message: -1, Tokens: estimated(tt.size)}); tt.size >= 0 && (!broken || b != want) || tt.size < 0 && broken {
				t.Errorf("%v %+v, want %+v", broken, b, want)
			}
			if b, broken := g.Check(request(), rec, tt.now...); broken {
				t.Errorf("the same request again: %+v", b)
			}
		})
	}
	if got, want := (processors.PrefixBreak{Cause: causeTools, Message: -1, Tokens: 7}).String(), "prefix breaks at tools, cause tools: about 7 tokens are sent again"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The guard keeps the tools of a caller that makes the next ones in their memory.
func TestPrefixGuardKeepsNoMemoryOfTheTools(t *testing.T) {
	tools := []core.Definition{{Name: "f"}}
	var g PrefixGuard
	g.Check(request(), nil, tools...)
	tools[0].Name = "g"
	if b, broken := g.Check(request(), nil, tools...); !broken || b.Cause != causeTools {
		t.Errorf("%v %+v", broken, b)
	}
}
