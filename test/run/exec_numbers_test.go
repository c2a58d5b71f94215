//go:build unix

package run_test

import (
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/session"
)

// A second host over the same store gives no id to another command, even when both start
// commands at the same time. A model that asks it for a command of the first host learns that
// the command is gone.
func TestExecNumbersGoOnElsewhere(t *testing.T) {
	store := session.NewMemory()
	first := newBench(t, satchel.Runner{}, satchel.WithStore(store))
	if r := first.talk("skill_exec", command("read x", `,"yield_ms":1`)); r.Session != "s1" || r.Status != "running" {
		t.Fatalf("the first host: %+v", r)
	}
	second := newBench(t, satchel.Runner{}, satchel.WithStore(store))
	want := "error: s1 has ended: the machine that ran it is gone, with its output. Start it again if it is still needed."
	for tool, args := range map[string]string{
		"skill_poll_session": `{"session_id":"s1"}`, "skill_kill_session": `{"session_id":"s1"}`, "skill_write_stdin": `{"session_id":"s1","chars":"x"}`,
	} {
		if got := second.call(tool, args); got != want {
			t.Errorf("%s: %s", tool, got)
		}
	}
	if r := second.talk("skill_exec", command("read x", `,"yield_ms":1`)); r.Session != "s2" {
		t.Errorf("the second host: %+v", r)
	}
	if got := first.talk("skill_poll_session", `{"session_id":"s1"}`); got.Status != "running" {
		t.Errorf("s1 where it runs: %+v", got)
	}
	var wg sync.WaitGroup
	ids := make([]string, 6)
	for i, b := range []*bench{first, second, first, second, first, second} {
		wg.Go(func() { ids[i] = b.talk("skill_exec", command("read x", `,"yield_ms":1`)).Session })
	}
	wg.Wait()
	given := map[string]bool{"s1": true, "s2": true}
	for _, id := range ids {
		if given[id] || id == "" {
			t.Errorf("%q was given before: %q", id, ids)
		}
		given[id] = true
	}
}
