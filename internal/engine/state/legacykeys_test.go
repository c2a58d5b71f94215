package state_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

func TestExport(t *testing.T) {
	tests := []struct {
		name string
		rec  state.Record
		want map[string]string
	}{
		{"nothing loaded", state.Record{}, map[string]string{}},
		{
			"docs, all docs and none",
			state.Record{
				Key: core.SessionKey{Agent: "main"},
				LoadState: state.LoadState{
					Active: []state.Active{
						{Skill: "pdf", Docs: []string{"b.md", "a.md"}},
						{Skill: "docx", Docs: []string{"x.md"}, All: true},
						{Skill: "csv"},
					},
				},
			},
			map[string]string{
				"temp:skill:loaded_by_agent:main/pdf":   "1",
				"temp:skill:loaded_by_agent:main/docx":  "1",
				"temp:skill:loaded_by_agent:main/csv":   "1",
				"temp:skill:docs_by_agent:main/pdf":     `["b.md","a.md"]`,
				"temp:skill:docs_by_agent:main/docx":    "*",
				"temp:skill:loaded_order_by_agent:main": `["pdf","docx","csv"]`,
			},
		},
		{
			"names are escaped",
			state.Record{Key: core.SessionKey{Agent: "a/b%"}, LoadState: state.LoadState{Active: []state.Active{{Skill: "c/d e"}}}},
			map[string]string{
				"temp:skill:loaded_by_agent:a%2Fb%25/c%2Fd%20e": "1",
				"temp:skill:loaded_order_by_agent:a%2Fb%25":     `["c/d e"]`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := state.WriteKeys(&tt.rec); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestKeysAreDistinct(t *testing.T) {
	names := []string{"", "/", "a", "a/", "/a", "a/b", "a%2Fb", "a%252Fb", "%", "%2F", "a b", "a%20b", "a+b", "b", "\xff", "ä"}
	seen := map[string]string{}
	for _, agent := range names {
		for _, skill := range names {
			for _, k := range []string{state.LoadedKey(agent, skill), state.DocsKey(agent, skill)} {
				pair := fmt.Sprintf("%q %q", agent, skill)
				if old, ok := seen[k]; ok {
					t.Errorf("%s and %s share %q", old, pair, k)
				}
				seen[k] = pair
			}
		}
	}
}

func TestImport(t *testing.T) {
	const agent = "main"
	type keys = map[string]string
	tests := []struct {
		name  string
		agent string
		keys  keys
		want  []state.Active
	}{
		{"nothing", agent, nil, nil},
		{"other keys", agent, keys{"temp:skill:artifacts": "1", "loaded": "1", "temp:skill:loaded_by_agent:main": "1"}, nil},
		{"other agent", agent, keys{state.LoadedKey("sub", "pdf"): "1"}, nil},
		{"agent is a prefix", agent, keys{state.LoadedKey("main/x", "pdf"): "1", state.LoadedKey("mai", "n/pdf"): "1"}, nil},
		{"cleared", agent, keys{state.LoadedKey(agent, "pdf"): ""}, nil},
		{"not a flag", agent, keys{state.LoadedKey(agent, "pdf"): "true"}, nil},
		{"no name", agent, keys{state.LoadedKey(agent, ""): "1", "temp:skill:loaded:": "1"}, nil},
		{
			"docs without load", agent,
			keys{state.DocsKey(agent, "pdf"): "*"}, nil,
		},
		{
			"order, then by name", agent,
			keys{
				state.LoadedKey(agent, "c"): "1", state.LoadedKey(agent, "b"): "1", state.LoadedKey(agent, "a"): "1",
				state.OrderKey(agent): `["c","gone","c"]`,
			},
			[]state.Active{{Skill: "c", Used: 1}, {Skill: "a", Used: 2}, {Skill: "b", Used: 3}},
		},
		{
			"bad JSON is no docs and no order", agent,
			keys{
				state.LoadedKey(agent, "b"): "1", state.LoadedKey(agent, "a"): "1",
				state.DocsKey(agent, "a"): `["x.md"`, state.DocsKey(agent, "b"): `{"x":1}`, state.OrderKey(agent): `[1]`,
			},
			[]state.Active{{Skill: "a", Used: 1}, {Skill: "b", Used: 2}},
		},
		{
			"legacy keys", agent,
			keys{
				"temp:skill:loaded:pdf": "1", "temp:skill:docs:pdf": `["a.md","","a.md"]`,
				"temp:skill:loaded:a/b%": "1", "temp:skill:docs:a/b%": "*", "temp:skill:loaded_order:": `["pdf","a/b%"]`,
			},
			[]state.Active{{Skill: "pdf", Docs: []string{"a.md"}, Used: 1}, {Skill: "a/b%", All: true, Used: 2}},
		},
		{
			"an agent's value wins over a legacy one", agent,
			keys{
				"temp:skill:loaded:pdf": "1", state.LoadedKey(agent, "pdf"): "1",
				"temp:skill:docs:pdf": "*", state.DocsKey(agent, "pdf"): `["a.md"]`,
				"temp:skill:loaded:docx": "1", state.LoadedKey(agent, "docx"): "",
			},
			[]state.Active{{Skill: "pdf", Docs: []string{"a.md"}, Used: 1}},
		},
		{
			"names that were not escaped", "my agent",
			keys{
				"temp:skill:loaded_by_agent:my agent/a/b":   "1",
				"temp:skill:loaded_by_agent:my agent/c d":   "1",
				"temp:skill:docs_by_agent:my agent/c d":     "*",
				"temp:skill:loaded_order_by_agent:my agent": `["c d","a/b"]`,
			},
			[]state.Active{{Skill: "c d", All: true, Used: 1}, {Skill: "a/b", Used: 2}},
		},
		{
			"an agent whose name looks escaped", "a%20b",
			keys{state.LoadedKey("a b", "pdf"): "1", state.OrderKey("a b"): `["pdf"]`}, nil,
		},
		{"no agent", "", keys{state.LoadedKey("", "pdf"): "1"}, []state.Active{{Skill: "pdf", Used: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key := core.SessionKey{Session: "s", Agent: tt.agent}
			got, err := state.ReadKeys(key, tt.keys)
			if err != nil {
				t.Fatal(err)
			}
			want := &state.Record{Key: key, LoadState: state.LoadState{Active: tt.want, Uses: len(tt.want)}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestImportBound(t *testing.T) {
	keys := map[string]string{}
	for i := range 10_001 {
		keys[state.LoadedKey("", fmt.Sprint(i))] = "1"
	}
	if _, err := state.ReadKeys(core.SessionKey{}, keys); err == nil {
		t.Error("10,001 skills were read")
	}
	delete(keys, state.LoadedKey("", "0"))
	rec, err := state.ReadKeys(core.SessionKey{}, keys)
	if err != nil || len(rec.Active) != 10_000 {
		t.Errorf("got %v, %v", rec, err)
	}
}

// TestKeysRoundTrip checks on random records of two agents in one keys that
// each comes back as it was, load order for use order.
func TestKeysRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "/", "%", "%2F", " ", "ä", ":", "*", `"`, "-", "\x00", "?"}
	name := func() string {
		s := pieces[rng.IntN(len(pieces))]
		for rng.IntN(3) > 0 {
			s += pieces[rng.IntN(len(pieces))]
		}
		return s
	}
	names := func(limit int) []string {
		set := map[string]bool{}
		for range rng.IntN(limit) {
			set[name()] = true
		}
		var list []string
		for n := range maps.Keys(set) {
			list = append(list, n)
		}
		return list
	}
	for range 2000 {
		keys := map[string]string{}
		agents := map[string]*state.Record{}
		for _, agent := range []string{"", name(), name()} {
			rec := &state.Record{Key: core.SessionKey{Session: "s", Agent: agent}}
			for i, skill := range names(6) {
				a := state.Active{Skill: skill, Used: i + 1}
				if a.All = rng.IntN(3) == 0; !a.All {
					a.Docs = names(4)
				}
				rec.Active = append(rec.Active, a)
				rec.Uses++
			}
			if agents[agent] == nil {
				agents[agent] = rec
				maps.Copy(keys, state.WriteKeys(rec))
			}
		}
		for agent, want := range agents {
			got, err := state.ReadKeys(core.SessionKey{Session: "s", Agent: agent}, keys)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("agent %q: got %+v, %v\nwant %+v\nstate %q", agent, got, err, want, keys)
			}
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add("main", `{"temp:skill:loaded_by_agent:main/pdf":"1","temp:skill:docs_by_agent:main/pdf":"[\"a.md\"]"}`)
	f.Add("", `{"temp:skill:loaded:pdf":"1","temp:skill:docs:pdf":"*","temp:skill:loaded_order:":"[\"pdf\"]"}`)
	f.Add("a b", `{"temp:skill:loaded_by_agent:a b/%":"1","temp:skill:loaded_by_agent:a%20b/%25":"1"}`)
	f.Fuzz(func(t *testing.T, agent, text string) {
		var keys map[string]string
		if json.Unmarshal([]byte(text), &keys) != nil {
			return
		}
		key := core.SessionKey{Agent: agent}
		rec, err := state.ReadKeys(key, keys)
		if err != nil {
			t.Fatal(err)
		}
		again, err := state.ReadKeys(key, keys)
		if err != nil || !reflect.DeepEqual(rec, again) {
			t.Fatalf("not deterministic: %+v and %+v, %v", rec, again, err)
		}
		back, err := state.ReadKeys(key, state.WriteKeys(rec))
		if err != nil || !reflect.DeepEqual(back, rec) {
			t.Fatalf("got back %+v, %v\nwant %+v", back, err, rec)
		}
	})
}
