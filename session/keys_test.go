package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

func TestKeys(t *testing.T) {
	tests := []struct {
		name string
		rec  session.Record
		want map[string]string
	}{
		{"nothing loaded", session.Record{}, map[string]string{}},
		{
			"docs, all docs and none",
			session.Record{
				Key: core.SessionKey{Agent: "main"},
				Active: []session.Active{
					{Skill: "pdf", Docs: []string{"b.md", "a.md"}},
					{Skill: "docx", Docs: []string{"x.md"}, All: true},
					{Skill: "csv"},
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
			session.Record{Key: core.SessionKey{Agent: "a/b%"}, Active: []session.Active{{Skill: "c/d e"}}},
			map[string]string{
				"temp:skill:loaded_by_agent:a%2Fb%25/c%2Fd%20e": "1",
				"temp:skill:loaded_order_by_agent:a%2Fb%25":     `["c/d e"]`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.rec.Keys(); !reflect.DeepEqual(got, tt.want) {
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
			for _, k := range []string{session.LoadedKey(agent, skill), session.DocsKey(agent, skill)} {
				pair := fmt.Sprintf("%q %q", agent, skill)
				if old, ok := seen[k]; ok {
					t.Errorf("%s and %s share %q", old, pair, k)
				}
				seen[k] = pair
			}
		}
	}
}

func TestImportKeys(t *testing.T) {
	const agent = "main"
	type state = map[string]string
	tests := []struct {
		name  string
		agent string
		state state
		want  []session.Active
	}{
		{"nothing", agent, nil, nil},
		{"other keys", agent, state{"temp:skill:artifacts": "1", "loaded": "1", "temp:skill:loaded_by_agent:main": "1"}, nil},
		{"other agent", agent, state{session.LoadedKey("sub", "pdf"): "1"}, nil},
		{"agent is a prefix", agent, state{session.LoadedKey("main/x", "pdf"): "1", session.LoadedKey("mai", "n/pdf"): "1"}, nil},
		{"cleared", agent, state{session.LoadedKey(agent, "pdf"): ""}, nil},
		{"not a flag", agent, state{session.LoadedKey(agent, "pdf"): "true"}, nil},
		{"no name", agent, state{session.LoadedKey(agent, ""): "1", "temp:skill:loaded:": "1"}, nil},
		{
			"docs without load", agent,
			state{session.DocsKey(agent, "pdf"): "*"}, nil,
		},
		{
			"order, then by name", agent,
			state{
				session.LoadedKey(agent, "c"): "1", session.LoadedKey(agent, "b"): "1", session.LoadedKey(agent, "a"): "1",
				session.OrderKey(agent): `["c","gone","c"]`,
			},
			[]session.Active{{Skill: "c", Used: 1}, {Skill: "a", Used: 2}, {Skill: "b", Used: 3}},
		},
		{
			"bad JSON is no docs and no order", agent,
			state{
				session.LoadedKey(agent, "b"): "1", session.LoadedKey(agent, "a"): "1",
				session.DocsKey(agent, "a"): `["x.md"`, session.DocsKey(agent, "b"): `{"x":1}`, session.OrderKey(agent): `[1]`,
			},
			[]session.Active{{Skill: "a", Used: 1}, {Skill: "b", Used: 2}},
		},
		{
			"legacy keys", agent,
			state{
				"temp:skill:loaded:pdf": "1", "temp:skill:docs:pdf": `["a.md","","a.md"]`,
				"temp:skill:loaded:a/b%": "1", "temp:skill:docs:a/b%": "*", "temp:skill:loaded_order:": `["pdf","a/b%"]`,
			},
			[]session.Active{{Skill: "pdf", Docs: []string{"a.md"}, Used: 1}, {Skill: "a/b%", All: true, Used: 2}},
		},
		{
			"an agent's value wins over a legacy one", agent,
			state{
				"temp:skill:loaded:pdf": "1", session.LoadedKey(agent, "pdf"): "1",
				"temp:skill:docs:pdf": "*", session.DocsKey(agent, "pdf"): `["a.md"]`,
				"temp:skill:loaded:docx": "1", session.LoadedKey(agent, "docx"): "",
			},
			[]session.Active{{Skill: "pdf", Docs: []string{"a.md"}, Used: 1}},
		},
		{
			"names that were not escaped", "my agent",
			state{
				"temp:skill:loaded_by_agent:my agent/a/b":   "1",
				"temp:skill:loaded_by_agent:my agent/c d":   "1",
				"temp:skill:docs_by_agent:my agent/c d":     "*",
				"temp:skill:loaded_order_by_agent:my agent": `["c d","a/b"]`,
			},
			[]session.Active{{Skill: "c d", All: true, Used: 1}, {Skill: "a/b", Used: 2}},
		},
		{
			"an agent whose name looks escaped", "a%20b",
			state{session.LoadedKey("a b", "pdf"): "1", session.OrderKey("a b"): `["pdf"]`}, nil,
		},
		{"no agent", "", state{session.LoadedKey("", "pdf"): "1"}, []session.Active{{Skill: "pdf", Used: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key := core.SessionKey{Session: "s", Agent: tt.agent}
			got, err := session.ImportKeys(key, tt.state)
			if err != nil {
				t.Fatal(err)
			}
			want := &session.Record{Key: key, Active: tt.want, Uses: len(tt.want)}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestImportKeysBound(t *testing.T) {
	state := map[string]string{}
	for i := range 10_001 {
		state[session.LoadedKey("", fmt.Sprint(i))] = "1"
	}
	if _, err := session.ImportKeys(core.SessionKey{}, state); !errors.Is(err, session.ErrTooManySkills) {
		t.Errorf("got %v", err)
	}
	delete(state, session.LoadedKey("", "0"))
	rec, err := session.ImportKeys(core.SessionKey{}, state)
	if err != nil || len(rec.Active) != 10_000 {
		t.Errorf("got %v, %v", rec, err)
	}
}

// TestKeysRoundTrip checks on random records of two agents in one state that
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
		state := map[string]string{}
		agents := map[string]*session.Record{}
		for _, agent := range []string{"", name(), name()} {
			rec := &session.Record{Key: core.SessionKey{Session: "s", Agent: agent}}
			for i, skill := range names(6) {
				a := session.Active{Skill: skill, Used: i + 1}
				if a.All = rng.IntN(3) == 0; !a.All {
					a.Docs = names(4)
				}
				rec.Active = append(rec.Active, a)
				rec.Uses++
			}
			if agents[agent] == nil {
				agents[agent] = rec
				maps.Copy(state, rec.Keys())
			}
		}
		for agent, want := range agents {
			got, err := session.ImportKeys(core.SessionKey{Session: "s", Agent: agent}, state)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("agent %q: got %+v, %v\nwant %+v\nstate %q", agent, got, err, want, state)
			}
		}
	}
}

func FuzzImportKeys(f *testing.F) {
	f.Add("main", `{"temp:skill:loaded_by_agent:main/pdf":"1","temp:skill:docs_by_agent:main/pdf":"[\"a.md\"]"}`)
	f.Add("", `{"temp:skill:loaded:pdf":"1","temp:skill:docs:pdf":"*","temp:skill:loaded_order:":"[\"pdf\"]"}`)
	f.Add("a b", `{"temp:skill:loaded_by_agent:a b/%":"1","temp:skill:loaded_by_agent:a%20b/%25":"1"}`)
	f.Fuzz(func(t *testing.T, agent, text string) {
		var state map[string]string
		if json.Unmarshal([]byte(text), &state) != nil {
			return
		}
		key := core.SessionKey{Agent: agent}
		rec, err := session.ImportKeys(key, state)
		if err != nil {
			t.Fatal(err)
		}
		again, err := session.ImportKeys(key, state)
		if err != nil || !reflect.DeepEqual(rec, again) {
			t.Fatalf("not deterministic: %+v and %+v, %v", rec, again, err)
		}
		back, err := session.ImportKeys(key, rec.Keys())
		if err != nil || !reflect.DeepEqual(back, rec) {
			t.Fatalf("got back %+v, %v\nwant %+v", back, err, rec)
		}
	})
}
