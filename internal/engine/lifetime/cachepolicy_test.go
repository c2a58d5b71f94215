package lifetime

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

func TestCut(t *testing.T) {
	policy := loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 10, TTL: 5 * time.Minute}
	for _, tt := range []struct {
		name   string
		pieces []Piece
		policy loadmode.CachePolicy
		idle   time.Duration
		want   int
	}{
		{"nothing", nil, policy, 0, 0},
		{"much content", []Piece{{2000, 500}}, policy, 0, 0},
		{"much history", []Piece{{2000, 5000}}, policy, 0, 1},
		{"the last only", []Piece{{100, 5000}, {2000, 500}}, policy, 0, 1},
		{"all at once", []Piece{{3000, 500}, {100, 500}}, policy, 0, 0},
		{"no policy", []Piece{{1, 5000}}, loadmode.CachePolicy{}, 0, 0},
		{"cold", []Piece{{1, 5000}}, policy, 6 * time.Minute, 0},
		{"warm", []Piece{{1, 5000}}, policy, 5 * time.Minute, 1},
		{"no horizon", []Piece{{9000, 1}}, loadmode.CachePolicy{Read: 0.1, Write: 1}, 0, 1},
		{"reading is free", []Piece{{9000, 1}}, loadmode.CachePolicy{Write: 1, Horizon: 10}, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Cut(tt.policy, tt.pieces, tt.idle); got != tt.want {
				t.Errorf("cut at %d, want %d", got, tt.want)
			}
		})
	}
}

// Cut chooses the cut that saves most by the formula, and never less than nothing.
func TestCutIsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cuts := 0
	for range 2000 {
		p := loadmode.CachePolicy{Read: r.Float64(), Write: 1 + r.Float64(), Horizon: r.IntN(30)}
		pieces := make([]Piece, r.IntN(6))
		for i := range pieces {
			pieces[i] = Piece{r.IntN(3000), r.IntN(3000)}
		}
		saved := func(cut int) float64 {
			dead, live := 0, 0
			for _, piece := range pieces[cut:] {
				dead, live = dead+piece.Dead, live+piece.Live
			}
			return float64(p.Horizon)*p.Read*float64(dead) - (p.Write-p.Read)*float64(live)
		}
		cut := Cut(p, pieces, 0)
		for other := range len(pieces) + 1 {
			if saved(other) > saved(cut)+1e-9 {
				t.Fatalf("%+v %v: cut at %d saves %v, at %d %v", p, pieces, cut, saved(cut), other, saved(other))
			}
		}
		if cut < len(pieces) {
			cuts++
		}
	}
	if cuts < 200 || cuts > 1800 {
		t.Errorf("%d of 2000 cut something: does this compare anything?", cuts)
	}
}

func TestKeepExpired(t *testing.T) {
	rec := loaded()
	last := rec.Clone()
	last.Find("docx").ID = "dir:a/docx"
	before := last.Deliveries
	before[1].Docs[0].Old = true
	last.Deliveries = append(before, state.Delivery{Call: 2, Skill: "old", Old: true, Body: true})
	Advance(rec, loadmode.Turn, "t4", state.Mark{})
	KeepExpired(rec, last, func(call int) bool { return call == 2 })
	want := []state.Delivery{{Call: 2, Turn: 3, Skill: "docx", Digest: "d-docx", Body: true, Docs: []state.Doc{}, Ended: true, Of: state.HashID("dir:a/docx")}}
	if !reflect.DeepEqual(rec.Deliveries, want) || rec.Active != nil {
		t.Errorf("deliveries %+v with %+v loaded, want %+v and nothing", rec.Deliveries, rec.Active, want)
	}
	if !before[1].Docs[0].Old || before[1].Ended {
		t.Error("the record before was changed")
	}
}

// A superseded text stays with a prefix while the text that supersedes it does.
func TestKeepPrefix(t *testing.T) {
	body := func(call int, old bool) state.Delivery {
		return state.Delivery{Call: call, Skill: "pdf", Digest: "d", Body: true, Old: old}
	}
	doc := func(call int, old bool) state.Delivery {
		return state.Delivery{Call: call, Skill: "csv", Digest: "d", Docs: []state.Doc{{Name: "a.md", Digest: "e", Old: old}, {Name: "b.md", Digest: "f"}}}
	}
	for _, tt := range []struct {
		name string
		all  []state.Delivery
		cut  int // the first call that is cleared
		want []int
	}{
		{"all stays", []state.Delivery{body(1, true), body(3, false)}, 9, []int{1, 3}},
		{"the newer body goes", []state.Delivery{body(1, true), doc(2, false), body(3, false)}, 3, []int{2}},
		{"a doc stays", []state.Delivery{doc(1, true), doc(3, false)}, 9, []int{1, 3}},
		{"the newer doc goes", []state.Delivery{doc(1, true), doc(3, false)}, 2, []int{1}},
		{"superseded twice", []state.Delivery{body(1, true), body(2, true), body(4, false)}, 9, []int{1, 2, 4}},
	} {
		rec := &state.Record{}
		KeepPrefix(rec, &state.Record{LoadState: state.LoadState{Deliveries: tt.all}}, func(call int) bool { return call < tt.cut })
		var got []int
		for _, d := range rec.Deliveries {
			got = append(got, d.Call)
			if !d.Ended {
				t.Errorf("%s: %d goes on", tt.name, d.Call)
			}
			for _, x := range d.Docs {
				if x.Old && len(tt.want) < 2 {
					t.Errorf("%s: a doc that nothing supersedes stays", tt.name)
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v stays, want %v", tt.name, got, tt.want)
		}
	}
}
