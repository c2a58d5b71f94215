package skilltools

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

func names(s *Set) (out []string) {
	for _, t := range s.Tools() {
		out = append(out, t.Name)
	}
	return out
}

func TestProfileNames(t *testing.T) {
	for _, tt := range []struct {
		profile tools.Profile
		want    []string
	}{
		{"", []string{"skill_load", "skill_select_docs", "skill_list_docs", "skill_unload", "skill_read"}},
		{tools.Full, []string{"skill_load", "skill_select_docs", "skill_list_docs", "skill_unload", "skill_read"}},
		{tools.KnowledgeOnly, []string{"skill_load", "skill_select_docs", "skill_list_docs"}},
	} {
		t.Run(string(tt.profile), func(t *testing.T) {
			got, err := tt.profile.Names()
			if err != nil || !slices.Equal(got, tt.want) {
				t.Fatalf("%q, %v, want %q", got, err, tt.want)
			}
			set, err := Choose(Default(), got)
			if err != nil || !slices.Equal(names(set), tt.want) {
				t.Errorf("the set is %v, %v", set, err)
			}
		})
	}
	t.Run("unknown", func(t *testing.T) {
		if _, err := tools.Profile("all").Names(); !errors.Is(err, tools.ErrSet) || !strings.Contains(err.Error(), `"all": use full or knowledge_only`) {
			t.Errorf("error %v", err)
		}
	})
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name  string
		names []string
		want  []string
		err   string
	}{
		{name: "order of the vocabulary", names: []string{"skill_read", "skill_load"}, want: []string{"skill_load", "skill_read"}},
		{name: "a name twice", names: []string{"skill_load", "skill_load"}, want: []string{"skill_load"}},
		{name: "listing alone", names: []string{"skill_list_docs"}, want: []string{"skill_list_docs"}},
		{name: "none", names: nil},
		{name: "no such tool", names: []string{"skill_load", "skill_fly"}, err: `there is no tool "skill_fly"`},
		{name: "read without load", names: []string{"skill_read"}, err: "skill_read is of no use without skill_load"},
		{name: "select without load", names: []string{"skill_list_docs", "skill_select_docs"}, err: "skill_select_docs is of no use without skill_load"},
		{name: "unload without load", names: []string{"skill_unload"}, err: "skill_unload is of no use without skill_load"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Choose(Default(), tt.names)
			if tt.err != "" {
				if !errors.Is(err, tools.ErrSet) || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !slices.Equal(names(set), tt.want) {
				t.Errorf("set %v, %v, want %q", set, err, tt.want)
			}
		})
	}
}

func TestNewSetErrors(t *testing.T) {
	call := func(context.Context, *Scope, tools.Args) (string, error) { return "", nil }
	one := []tools.Field{{Name: "x"}}
	for _, tt := range []struct {
		name string
		ops  []tools.Operation
	}{
		{"twice", []tools.Operation{Load(), Load()}},
		{"no name", []tools.Operation{{Fields: one, Call: With(call)}}},
		{"no call", []tools.Operation{{Name: "x", Fields: one}}},
		{"no fields", []tools.Operation{{Name: "x", Call: With(call)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if set, err := NewSet(tt.ops...); !errors.Is(err, tools.ErrSet) || set != nil {
				t.Errorf("set %v, error %v", set, err)
			}
		})
	}
	t.Run("an operation that is not there", func(t *testing.T) {
		set, err := NewSet(Load())
		if err != nil || set.Has("skill_read") || set.Operation("skill_read") != nil {
			t.Errorf("%v, %v", set, err)
		}
	})
}

func TestDeclare(t *testing.T) {
	anchor := state.Mark{Hash: "u", Turn: 1}
	for _, tt := range []struct {
		name  string
		loads []tools.Load
		view  string
		err   string
	}{
		{name: "one", loads: []tools.Load{{Skill: "pdf"}}, view: "pdf#1"},
		{name: "hidden", loads: []tools.Load{{Skill: "secret", AllDocs: true}}, view: "secret#1 secret/inside.md#1"},
		{name: "docs", loads: []tools.Load{{Skill: "pdf", Docs: []string{"./refs/tables.md", "forms.md"}}, {Skill: "docx"}},
			view: "pdf#1 pdf/refs/tables.md#1 pdf/forms.md#1 docx#1"},
		{name: "the same skill twice", loads: []tools.Load{{Skill: "pdf"}, {Skill: "pdf", Docs: []string{"forms.md"}}}, view: "pdf#1 pdf/forms.md#1"},
		{name: "none", view: ""},
		{name: "unknown skill", loads: []tools.Load{{Skill: "pdf"}, {Skill: "nope"}}, err: `unknown skill "nope"`},
		{name: "unknown doc", loads: []tools.Load{{Skill: "docx"}, {Skill: "pdf", Docs: []string{"forms.md", "nope.md"}}}, err: `unknown doc "nope.md" of "pdf"`},
		{name: "more than the cap", loads: []tools.Load{{Skill: "pdf"}, {Skill: "docx"}, {Skill: "csv"}}, err: "3 skills are more than the cap of 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, library())
			d.Max = 2
			decl, err := Declare(t.Context(), d.Scope, tt.loads)
			if tt.err != "" {
				if !errors.Is(err, tools.ErrLoads) || !strings.Contains(err.Error(), tt.err) || decl != nil {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			before := d.record()
			next, err := decl.Apply(t.Context(), before, anchor)
			if err != nil || next == before || before.Calls != 0 {
				t.Fatalf("%v, %v", next, err)
			}
			if _, err := d.records.Save(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			d.expectView(tt.view)
			for _, del := range d.record().Deliveries {
				if del.Anchor == nil || *del.Anchor != anchor || del.Call != 1 {
					t.Errorf("%+v is not at the user message", del)
				}
			}
			if len(outcomes(decl.Events())) != len(tt.loads) {
				t.Errorf("events %+v", decl.Events())
			}
		})
	}
}

// A declaration may be applied again after a conflict, and makes room.
func TestDeclareAgain(t *testing.T) {
	d := newHarness(t, library())
	d.Max = 1
	d.call("skill_load", `docx`)
	decl, err := Declare(t.Context(), d.Scope, []tools.Load{{Skill: "pdf"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		next, err := decl.Apply(t.Context(), d.record(), state.Mark{})
		if err != nil || len(next.Active) != 1 || next.Active[0].Skill != "pdf" || len(next.Deliveries) != 1 {
			t.Fatalf("%+v, %v", next, err)
		}
		if len(outcomes(decl.Events())) != 2 {
			t.Errorf("events %+v: want a load and an eviction", decl.Events())
		}
	}
}
