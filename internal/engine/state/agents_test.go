package state

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// TestStatesBoundFiles: files are dropped when no agent can need them any more. Of many
// agents, the longest unused are dropped.
func TestStatesBoundFiles(t *testing.T) {
	l := NewAgents(maxHolders + 10)
	key := func(i int) core.SessionKey { return core.SessionKey{Session: fmt.Sprint(i)} }
	for i := range maxHolders + 5 {
		l.SetFiles(l.Of(key(i)), make([]core.File, 1))
		l.SetFiles(l.Of(key(0)), make([]core.File, maxFiles+7)) // agent 0 stays in use
	}
	for i, want := range map[int]int{0: maxFiles, 1: 0, 5: 0, 6: 1, maxHolders + 4: 1} {
		if got := len(l.Of(key(i)).Files()); got != want {
			t.Errorf("agent %d has %d files, want %d", i, got, want)
		}
	}
	last := l.Of(key(0))
	l.SetFiles(last, nil)
	if len(last.Files()) != 0 || l.holders.Len() != maxHolders-1 {
		t.Errorf("%d files, %d holders after a request without files", len(last.Files()), l.holders.Len())
	}
	one := l.Of(key(7))
	l.End("7")
	if len(one.Files()) != 0 || l.holders.Len() != maxHolders-2 {
		t.Errorf("%d files, %d holders after the end of a session", len(one.Files()), l.holders.Len())
	}
	for i := range maxHolders + 10 {
		l.Of(key(-1 - i)) // evict all other agents
	}
	if n := l.holders.Len(); n != 0 {
		t.Errorf("%d holders are left of agents that were dropped", n)
	}
}
