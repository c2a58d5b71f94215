package state

import (
	"encoding/json"
	"reflect"
	"testing"
)

// withTask has the task report of call 1 with a doc, and plain of call 2.
func withTask() *Record {
	r := &Record{}
	all := func(*Delivery) bool { return true }
	r.Load(Load{Call: 1, Anchor: &Mark{Hash: "h"}, Skill: "report", ID: "id", Digest: "b1", Rendered: "a1", HasArguments: true, Docs: []Doc{{Name: "a.md", Digest: "d1"}}}, all)
	r.SetTask("report")
	r.Load(Load{Call: 2, Skill: "plain", Digest: "p1"}, all)
	return r
}

// hasTask fails the test unless report is loaded and its first text is shown.
func hasTask(t *testing.T, r *Record) {
	t.Helper()
	d := r.task("report")
	if d == nil || !r.IsTask("report") || !r.HasTask() || !r.IsPermanent("report") || r.Find("report") == nil || d.Digest != "b1" || d.Shown() != "a1" || d.Old || d.Ended || d.Spent {
		t.Errorf("the task is %+v, loaded are %+v", d, r.Active)
	}
}

func TestTaskStays(t *testing.T) {
	other := Load{Call: 3, Skill: "report", ID: "id", Digest: "b1", Rendered: "a2", HasArguments: true}
	shows := func(d *Delivery) bool { return !d.Old && !d.Spent }
	for name, test := range map[string]struct {
		change func(r *Record)
		loaded int // beside the task
		texts  int // beside it
	}{
		"nothing":       {func(*Record) {}, 1, 1},
		"unload":        {func(r *Record) { r.Unload("report") }, 1, 1},
		"all loads end": {func(r *Record) { r.EndLoads() }, 0, 0},
		"compaction":    {func(r *Record) { r.CompactLater("report", "short"); r.CompactNow() }, 1, 1},
		"a break":       {func(r *Record) { r.Break() }, 1, 1},
		"other text":    {func(r *Record) { r.Load(other, shows); r.Break() }, 1, 2},
		"twice":         {func(r *Record) { r.Load(other, shows); r.Load(other, shows) }, 1, 2},
		"and unload":    {func(r *Record) { r.Load(other, shows); r.Unload("report") }, 1, 1},
		"and all end":   {func(r *Record) { r.Load(other, shows); r.EndLoads() }, 0, 0},
		"after an answer": {func(r *Record) {
			r.Load(other, shows)
			r.Deliveries[2].Spent = true
			next := other
			next.Call = 4
			if out := r.Load(next, shows); !out.Delivery.Body || !out.Delivery.Supersedes {
				t.Errorf("a text that has left is loaded again with %+v", out.Delivery)
			}
		}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := withTask()
			test.change(r)
			hasTask(t, r)
			if r.Capped() != test.loaded || len(r.Active) != test.loaded+1 || len(r.Deliveries) != test.texts+1 {
				t.Errorf("%d count against the cap, loaded are %+v, texts %+v", r.Capped(), r.Active, r.Deliveries)
			}
			var stored Record
			if data, err := json.Marshal(r); err != nil || json.Unmarshal(data, &stored) != nil || !reflect.DeepEqual(stored.Deliveries, r.Deliveries) {
				t.Errorf("%v, stored are %+v, want %+v", err, stored.Deliveries, r.Deliveries)
			}
		})
	}
	r := withTask()
	if r.EndLoads(); !reflect.DeepEqual(r.Find("report").Docs, []string{"a.md"}) {
		t.Errorf("loaded are %+v", r.Active)
	}
	if r.Withdraw("report"); r.HasTask() || r.Find("report") != nil || len(r.Deliveries) != 0 {
		t.Errorf("withdrawn, and there are %+v, %+v", r.Active, r.Deliveries)
	}
}
