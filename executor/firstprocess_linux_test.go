//go:build amd64 || arm64

package executor

import (
	"bufio"
	"os"
	"runtime"
	"testing"
)

// many starts twenty processes that ignore what they can, some in sessions of
// their own, some without a parent, and prints a line for each.
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

// TestFamilyIsKilledDirectly leaves the first process alone: all others end
// without it.
func TestFamilyIsKilledDirectly(t *testing.T) {
	s, err := NewSandbox(WithLeast(IsolationNamespaces))
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
	c, err := s.spawn(t.Context(), withWorkspace(Command{
		Args: []string{"python3", "-S", "-c", many}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}, Limits: Limits{}.OrDefaults(),
	}), [3]*os.File{null, write, null}, false)
	must(t, err)
	_ = write.Close()
	for lines, n := bufio.NewScanner(read), 0; n < 21; n++ {
		if !lines.Scan() {
			t.Fatal("the program ended by itself")
		}
	}
	f := c.(*firstProcess)
	f.killFamily()
	f.awaitExit()
	if code, signal := statusOf(f.status); !f.told || signal != "SIGKILL" {
		t.Errorf("told %v: code %d, signal %s", f.told, code, signal)
	}
	for !within(othersWait, f.gone) { // that nobody is left
		f.killFamily()
	}
	must(t, f.killAll())
	end, err := f.reap()
	if must(t, err); end.signal != "SIGKILL" {
		t.Errorf("ended by %s", end.signal)
	}
}
