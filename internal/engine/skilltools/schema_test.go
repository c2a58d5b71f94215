package skilltools

import (
	"bytes"
	"encoding/json"
	"github.com/satchel-go/satchel/tools"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The schemas of the default vocabulary, byte for byte: a change breaks the
// cached prefix of every conversation that is going on.
func TestSchemas(t *testing.T) {
	want := map[string]string{
		"skill_load": `{"properties":{"docs":{"items":{"type":"string"},"type":"array"},"include_all_docs":{"type":"boolean"},` +
			`"mode":{"enum":["add","replace"],"type":"string"},"skill":{"type":"string"},"skills":{"items":{"type":"string"},"type":"array"}},"type":"object"}`,
		"skill_select_docs": `{"properties":{"docs":{"items":{"type":"string"},"type":"array"},"include_all_docs":{"type":"boolean"},` +
			`"mode":{"enum":["replace","add","clear"],"type":"string"},"skill":{"type":"string"}},"required":["skill"],"type":"object"}`,
		"skill_list_docs": `{"properties":{"skill":{"type":"string"}},"required":["skill"],"type":"object"}`,
		"skill_unload":    `{"properties":{"all":{"type":"boolean"},"skills":{"items":{"type":"string"},"type":"array"}},"type":"object"}`,
		"skill_read": `{"properties":{"limit":{"type":"integer"},"offset":{"type":"integer"},"path":{"type":"string"},"skill":{"type":"string"}},` +
			`"required":["path"],"type":"object"}`,
	}
	set, err := NewSet(Default()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range set.Tools() {
		t.Run(tool.Name, func(t *testing.T) {
			if string(tool.Schema) != want[tool.Name] {
				t.Errorf("got\n%s\nwant\n%s", tool.Schema, want[tool.Name])
			}
			checkCanonical(t, tool.Schema)
			if again := set.Operation(tool.Name).Tool(); !bytes.Equal(again.Schema, tool.Schema) {
				t.Error("the second one differs")
			}
			if tool.Description == "" {
				t.Error("no description")
			}
		})
	}
	if len(set.Tools()) != len(want) {
		t.Errorf("%d tools, want %d", len(set.Tools()), len(want))
	}
}

// checkCanonical reports a schema with white space, unsorted keys or required
// fields that do not exist.
func checkCanonical(t *testing.T, raw json.RawMessage) {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(value)
	if err != nil || !bytes.Equal(sorted, raw) {
		t.Errorf("not canonical: %s, %v", raw, err)
	}
	properties, ok := value["properties"].(map[string]any)
	if !ok || value["type"] != "object" {
		t.Fatalf("no object schema: %s", raw)
	}
	required, _ := value["required"].([]any)
	for _, name := range required {
		if properties[name.(string)] == nil {
			t.Errorf("required field %v does not exist", name)
		}
	}
	for name, p := range properties {
		kind := p.(map[string]any)["type"]
		if !slices.Contains([]any{"string", "array", "boolean", "integer"}, kind) {
			t.Errorf("field %s is of type %v", name, kind)
		}
	}
}

// The descriptions of the tools do not depend on the catalog: neither a schema nor the
// guidance names a skill.
func TestToolsNameNoSkill(t *testing.T) {
	d := newHarness(t, library())
	before := d.set.Tools()
	d.call("skill_load", `{"skills":["pdf","docx"],"include_all_docs":true}`)
	for i, tool := range d.set.Tools() {
		if !bytes.Equal(tool.Schema, before[i].Schema) || tool.Description != before[i].Description {
			t.Errorf("%s has changed with a load", tool.Name)
		}
		text := tool.Description + string(tool.Schema) + d.set.Guidance()
		for _, s := range d.skills.Snapshot().Skills() {
			if strings.Contains(text, s.Name) && s.Name != "secret" {
				t.Errorf("%s names skill %s", tool.Name, s.Name)
			}
		}
	}
}

func TestGuidance(t *testing.T) {
	operations := Default()
	for bits := range 1 << len(operations) {
		var chosen []tools.Operation
		for i, o := range operations {
			if bits&(1<<i) != 0 {
				chosen = append(chosen, o)
			}
		}
		set, err := NewSet(chosen...)
		if err != nil {
			t.Fatal(err)
		}
		text := set.Guidance()
		if len(text) >= 700 {
			t.Errorf("set %b: %d characters", bits, len(text))
		}
		for _, o := range operations {
			if !set.Has(o.Name) && strings.Contains(text, o.Name) {
				t.Errorf("set %b: the guidance names %s: %s", bits, o.Name, text)
			}
		}
		if set.Has("skill_load") != strings.Contains(text, "skill_load") {
			t.Errorf("set %b: guidance %q", bits, text)
		}
		if strings.TrimSpace(text) != text || strings.Contains(text, "\n\n") {
			t.Errorf("set %b: guidance %q", bits, text)
		}
	}
}

func TestDelivers(t *testing.T) {
	set, err := NewSet(Default()...)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(set.Delivers()))
	if want := []string{"skill_load", "skill_select_docs", "skill_unload"}; !slices.Equal(names, want) {
		t.Errorf("delivering tools %q, want %q", names, want)
	}
}

// TestKinds checks what each kind of operation means for its calls.
func TestKinds(t *testing.T) {
	type rules struct{ unrestricted, awaits, ordered, starts, again bool }
	for _, tt := range []struct {
		o    tools.Operation
		want rules
	}{
		{tools.Operation{}, rules{}},
		{tools.Operation{Kind: tools.Reads}, rules{unrestricted: true, awaits: true}},
		{tools.Operation{Kind: tools.Changes}, rules{unrestricted: true}},
		{tools.Operation{Kind: tools.Runs}, rules{awaits: true, starts: true, again: true}},
		{tools.Operation{Kind: tools.Runs, RunArguments: func(tools.Args) string { return "" }}, rules{awaits: true, starts: true}},
		{tools.Operation{Kind: tools.Talks}, rules{awaits: true, ordered: true, starts: true, again: true}},
		{tools.Operation{Kind: tools.Talks, Session: "session_id"}, rules{ordered: true}},
		{tools.Operation{Kind: tools.Edits}, rules{unrestricted: true, ordered: true}},
	} {
		got := rules{tt.o.IsUnrestricted(), tt.o.Awaits(), tt.o.IsOrdered(), tt.o.StartsCommand(), tt.o.Reloads()}
		if got != tt.want {
			t.Errorf("%d, session %q: %+v, want %+v", tt.o.Kind, tt.o.Session, got, tt.want)
		}
	}
}
