package run_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// processResources is what a process holds on to.
type processResources struct {
	goroutines, descriptors, directories int
	heap                                 int64
}

func resourcesOf(t *testing.T, base string) processResources {
	t.Helper()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	directories := 0
	instances, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range instances {
		if entries, err := os.ReadDir(base + "/" + i.Name()); err == nil {
			directories += len(entries)
		}
	}
	return processResources{runtime.NumGoroutine(), len(open), directories, int64(m.HeapAlloc)}
}

// Thousands of sessions with a load each, some with a run or a command that goes on,
// leave memory, goroutines, descriptors and directories where they were.
func TestSessionsLeaveNothing(t *testing.T) {
	base := t.TempDir()
	places, err := workspace.Open(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"demo/SKILL.md": {Data: []byte("---\nname: demo\ndescription: D.\n---\nB\n")}, "demo/doc.md": {Data: make([]byte, 4096)}}
	rt := chattest.Open(t, files, satchel.WithRunner(satchel.Runner{Executor: local, Workspaces: places}))
	session := func(n int) {
		c := chattest.NewChat(t, rt).Say(core.User, "hi")
		c.Key.Session = fmt.Sprintf("session-%d", n)
		c.View()
		c.Calls(`skill_load {"skill":"demo","docs":["doc.md"]}`)
		switch n % 40 {
		case 0:
			c.Calls(`skill_run {"skill":"demo","command":"echo > $OUTPUT_DIR/x","output_files":["out/x"]}`)
		case 20:
			c.Calls(`skill_exec {"skill":"demo","command":"sleep 600","yield_ms":1}`)
		}
		c.View()
		if err := rt.EndSession(t.Context(), c.Key.Session); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 200 {
		session(n)
	}
	before := resourcesOf(t, base)
	for n := range 2000 {
		session(1000 + n)
	}
	// The resources of an ended process are freed some time later.
	var after processResources
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		after = resourcesOf(t, base)
		if after.goroutines <= before.goroutines+3 && after.descriptors <= before.descriptors+3 && after.directories <= before.directories && after.heap <= before.heap+4<<20 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("before 2,000 sessions %+v, after them %+v", before, after)
		}
	}
}
