//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"os"
	"runtime"
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
)

// many starts twenty processes that ignore all signals they can, some in sessions of their own, some
// without a parent. It prints a line for each.
const many = `
import os, signal, time
def body():
    for s in range(1, 32):
        try: signal.signal(s, signal.SIG_IGN)
        except OSError: pass
    os.write(1, b'up\n')
    time.sleep(300)
for i in range(20):
    if os.fork() == 0:
        if i % 2: os.setsid()
        if i % 4 == 3 and os.fork(): os._exit(0)
        body()
body()
`

// TestFamilyIsKilledDirectly checks that killFamily ends all processes but the first.
func TestFamilyIsKilledDirectly(t *testing.T) {
	s, err := Open(t.Context(), WithLeast(executor.IsolationNamespaces))
	must(t, err)
	defer func() { must(t, s.Close()) }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = null.Close() }()
	read, write, err := os.Pipe()
	must(t, err)
	defer func() { _ = read.Close() }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := s.start(t.Context(), executor.Command{
		Args: []string{"python3", "-S", "-c", many}, Workspace: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}, Limits: executor.Limits{}.OrDefaults(),
	}, [3]*os.File{null, write, null}, false)
	must(t, err)
	_ = write.Close()
	for lines, n := bufio.NewScanner(read), 0; n < 21; n++ {
		if !lines.Scan() {
			t.Fatal("the program ended by itself")
		}
	}
	f := c.(*firstProcess)
	f.killFamily()
	f.AwaitExit()
	if code, signal := process.StatusOf(f.status); !f.hasStatus || signal != "SIGKILL" {
		t.Errorf("told %v: code %d, signal %s", f.hasStatus, code, signal)
	}
	for !process.Within(othersWait, f.allEnded) { // repeat until no process is left
		f.killFamily()
	}
	must(t, f.KillAll())
	end, err := f.Reap()
	if must(t, err); end.Signal != "SIGKILL" {
		t.Errorf("ended by %s", end.Signal)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
