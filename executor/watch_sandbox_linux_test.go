//go:build amd64 || arm64

package executor

import (
	"context"
	"os"
	"testing"
	"time"
)

// TestNothingHidden has ordinary commands, which nothing may be held against:
// what the executors start them with is not seen.
func TestNothingHidden(t *testing.T) {
	local, err := NewLocal()
	must(t, err)
	open := map[string]spawner{"local": local}
	for name, options := range map[string][]SandboxOption{"namespaces": nil, "landlock": {WithoutNamespaces()}} {
		if name == "landlock" && os.Geteuid() == 0 {
			continue // root does not get it
		}
		s, err := NewSandbox(options...)
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		open[name] = s
	}
	for name, by := range open {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := begin(ctx, by, time.Second, Command{
				Args: []string{"sh", "-c", "sleep 300 & (echo up > up); sleep 300"}, Dir: dir, Workspace: dir,
				Env: []string{"PATH=/usr/bin:/bin"},
			}, nil)
			must(t, err)
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				pids := r.child.pids()
				disk, memory := heldBy(nil, pids, deviceOf(t, dir)), heldBy(nil, pids, memoryDevice())
				if len(pids) == 3 && !disk.hidden && !memory.hidden && disk.used == (space{}) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("processes %v, on disk %+v, in memory %+v", pids, disk, memory)
				}
			}
			cancel()
			<-r.done
		})
	}
}
