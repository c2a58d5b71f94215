package librarychattest

import (
	"testing"

	"github.com/satchel-go/satchel/library"
)

// Outage stops and restarts the database of a store, by down and up. It checks that an agent keeps
// running, and works again without a restart. Calls may fail for a while after up, because old
// connections break one by one.
func Outage(t *testing.T, store library.Store, down, up func()) {
	t.Helper()
	w := newWorld(t, func(*testing.T) library.Store { return store }, setup{})
	made := w.shared("forms", form)
	want(t, w.run("forms"), "status=loaded")
	down()
	for _, got := range []map[string]any{w.run("forms"), w.run("{}"), w.update(args{"action": "archive", "skill": made.ID, "expectedVersionRef": "v1"})} {
		want(t, got, "error=unavailable", "message=the skill library does not answer; try again later")
	}
	up()
	for n := 0; ; n++ {
		got := w.run(args{"action": "inspect", "skill": "forms"})
		if got["action"] == "inspect" {
			break
		}
		if n == 100 {
			t.Fatalf("the store is back, and inspect answers %v", got)
		}
	}
	done := w.update(args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "-Then save it.\n+Save it.\n"})
	want(t, done, "status=applied")
}
