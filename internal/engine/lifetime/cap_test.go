package lifetime

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// fiveSkills are skills loaded in the order a to e, of which a and c were used again.
func fiveSkills() *state.Record {
	r := &state.Record{}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		r.Activate(name, "digest-"+name)
		r.Deliver(state.Delivery{Call: i + 1, Skill: name, Body: true})
	}
	r.Touch("c")
	r.Touch("a")
	return r
}

func active(r *state.Record) (names []string) {
	for _, a := range r.Active {
		names = append(names, a.Skill)
	}
	return names
}

func TestEvict(t *testing.T) {
	pick := func(name string) loadmode.Victim {
		return func([]loadmode.Candidate) string { return name }
	}
	for _, tt := range []struct {
		name    string
		limit   int
		keep    []string
		victim  loadmode.Victim
		evicted []string
	}{
		{name: "fits", limit: 5},
		{name: "no limit", limit: 0},
		{name: "below no limit", limit: -1},
		{name: "least recently used", limit: 4, evicted: []string{"b"}},
		{name: "several in order of use", limit: 2, evicted: []string{"b", "d", "e"}},
		{name: "never one of keep", limit: 2, keep: []string{"b", "d"}, evicted: []string{"e", "c", "a"}},
		{name: "more to keep than fit", limit: 1, keep: []string{"a", "b", "c"}, evicted: []string{"d", "e"}},
		{name: "all are kept", limit: 1, keep: []string{"a", "b", "c", "d", "e"}},
		{name: "the victim chooses", limit: 4, victim: pick("a"), evicted: []string{"a"}},
		{name: "no victim of that name", limit: 4, victim: pick("x"), evicted: []string{"b"}},
		{name: "a victim that must stay", limit: 4, keep: []string{"e"}, victim: pick("e"), evicted: []string{"b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fiveSkills()
			got := Evict(r, tt.limit, tt.keep, tt.victim)
			if !slices.Equal(got, tt.evicted) {
				t.Errorf("evicted %q, want %q", got, tt.evicted)
			}
			want := slices.DeleteFunc([]string{"a", "b", "c", "d", "e"}, func(n string) bool { return slices.Contains(tt.evicted, n) })
			if !slices.Equal(active(r), want) {
				t.Errorf("loaded %q, want %q in load order", active(r), want)
			}
			for _, d := range r.Deliveries {
				if slices.Contains(tt.evicted, d.Skill) {
					t.Errorf("content of %s is still delivered", d.Skill)
				}
			}
		})
	}
}

func TestVictimSeesLoadOrder(t *testing.T) {
	var seen []string
	Evict(fiveSkills(), 4, []string{"b"}, func(candidates []loadmode.Candidate) string {
		for i := range candidates {
			seen = append(seen, candidates[i].Skill)
			candidates[i].Skill = "spoilt"
		}
		return "c"
	})
	if want := []string{"a", "c", "d", "e"}; !slices.Equal(seen, want) {
		t.Errorf("candidates %q, want %q", seen, want)
	}
}

// A task neither leaves for the cap nor counts against it, and no answer ends it.
func TestTaskStays(t *testing.T) {
	r := fiveSkills()
	r.SetTask("b")
	Spend(r, loadmode.Once)
	if got := Evict(r, 2, nil, nil); !slices.Equal(got, []string{"d", "e"}) || !slices.Equal(active(r), []string{"a", "b", "c"}) {
		t.Errorf("evicted %q, loaded are %q", got, active(r))
	}
	if got := Evict(r, 1, nil, func([]loadmode.Candidate) string { return "b" }); !slices.Equal(got, []string{"c"}) {
		t.Errorf("evicted %q", got)
	}
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Adaptive} {
		before := r.Clone()
		Advance(r, mode, "", state.Mark{})
		KeepPrefix(r, before, func(int) bool { return true })
		if n := len(r.Deliveries); !slices.Equal(active(r), []string{"b"}) || n != len(before.Deliveries) || r.Deliveries[slices.IndexFunc(r.Deliveries, func(d state.Delivery) bool { return d.IsTask })].Ended {
			t.Errorf("%v: loaded are %q, texts %+v", mode, active(r), r.Deliveries)
		}
	}
}

// TestEvictOne: the only skill beside a preloaded one can make room too.
func TestEvictOne(t *testing.T) {
	r := fiveSkills()
	r.SetPreloads([]state.Preload{{Skill: "a"}})
	for _, want := range []string{"d", "e", "c", ""} {
		if got := EvictOne(r, []string{"b"}, nil); got != want {
			t.Errorf("%q is unloaded, want %q", got, want)
		}
	}
	if got := active(r); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q stay loaded", got)
	}
}
