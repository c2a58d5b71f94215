package state

import (
	"reflect"
	"testing"
)

func TestRevive(t *testing.T) {
	r := &Record{
		LoadState: LoadState{
			Deliveries: []Delivery{
				{Call: 1, Skill: "pdf", Body: true, Ended: true, Docs: []Doc{{Name: "a.md"}, {Name: "b.md", Old: true}}},
				{Call: 2, Skill: "pdf", Ended: true, Docs: []Doc{{Name: "gone.md"}}},
				{Call: 3, Skill: "pdf", Ended: true, Docs: []Doc{{Name: "a.md"}, {Name: "c.md"}}},
				{Call: 4, Skill: "csv", Body: true, Ended: true},
				{Call: 5, Skill: "pdf", Body: true, Ended: true, Old: true},
			},
		},
	}
	docs := r.reuseEnded("pdf", func(d *Delivery) bool { return d.Call != 2 })
	if want := []string{"a.md", "c.md"}; !reflect.DeepEqual(docs, want) {
		t.Errorf("docs are %q, want %q", docs, want)
	}
	var ended []int
	for _, d := range r.Deliveries {
		if d.Ended {
			ended = append(ended, d.Call)
		}
	}
	if len(r.Deliveries) != 4 || !reflect.DeepEqual(ended, []int{4, 5}) {
		t.Errorf("%d deliveries, ended are %v, want 4 and those of calls 4 and 5", len(r.Deliveries), ended)
	}
	if docs := r.reuseEnded("xlsx", func(*Delivery) bool { return true }); docs != nil {
		t.Errorf("a skill that was never loaded has docs %q", docs)
	}
}
