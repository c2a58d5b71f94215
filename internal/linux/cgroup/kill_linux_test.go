package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestKill(t *testing.T) {
	tr := tree(t)
	for name, script := range map[string]string{
		"sessions":  "for i in 1 2 3; do setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done' & done; wait",
		"stopped":   "for i in 1 2 3; do sleep 300 & kill -STOP $!; done; kill -STOP $$",
		"fork bomb": "while :; do sleep 300 & done",
	} {
		for _, limits := range []Limits{{Processes: 40}, {Memory: 64 << 20}} {
			t.Run(fmt.Sprintf("%s %+v", name, limits), func(t *testing.T) {
				g := group(t, tr, limits)
				child := wait(t, g, script)
				child.Stdout, child.Stderr = nil, nil
				_ = child.in.Close()
				waitUntil(t, "four processes", func() bool { return len(processesOf(g)) >= 4 })
				if err := g.Kill(); err != nil {
					t.Error(err)
				}
				if left := processesOf(g); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				_ = child.Wait()
				if err := g.Remove(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestGroupsBelow makes groups inside a group, as a command that is root can.
func TestGroupsBelow(t *testing.T) {
	tr := tree(t)
	g := group(t, tr, Limits{Processes: 20})
	deep := filepath.Join(g.parts[0].dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	child := wait(t, g, "sleep 300")
	if err := writeFile(filepath.Join(deep, procsFile), fmt.Sprint(child.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if got := processesOf(g); !slices.Equal(got, []int{child.Process.Pid}) {
		t.Errorf("processes %v", got)
	}
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
	child.run()
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	checkLeftovers(t, tr)
}
