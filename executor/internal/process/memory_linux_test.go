package process

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
)

// TestRemovedFiles counts files that have no name any more.
func TestRemovedFiles(t *testing.T) {
	dir := t.TempDir()
	self := func() []int { return []int{os.Getpid(), os.Getpid(), 1 << 30} }
	d := openDisk(t, dir, 1<<30, self)
	used := func() int64 {
		t.Helper()
		used, ok := d.count(nil, d.mostFree)
		if !ok {
			t.Fatal("not counted")
		}
		return used.bytes
	}
	before := used()
	file := fill(t, dir, "file", 8<<20)
	f, err := os.Open(file)
	must(t, err)
	second, err := os.Open(file)
	must(t, err)
	defer second.Close()
	if got := used() - before; got < 8<<20 || got > 9<<20 {
		t.Errorf("an open file counts %d bytes", got)
	}
	must(t, os.Remove(file))
	if got := used() - before; got < 8<<20 || got > 9<<20 {
		t.Errorf("a removed file that is open counts %d bytes", got)
	}
	f.Close()
	second.Close()
	if got := used() - before; got > 1<<20 {
		t.Errorf("a removed file counts %d bytes", got)
	}
}

// python starts a program that reports when it is ready and then waits.
func python(t testing.TB, program string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("python3", "-c", "import os,sys,time,mmap\n"+program+"\nprint('up', flush=True)\ntime.sleep(100)")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	return cmd
}

func TestMemoryLook(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name, program   string
		atLeast, atMost int64 // limits of the measured memory, in MiB
	}{
		{"nothing", "", 0, 64},
		{"one process", "x = bytearray(b'x') * (150 << 20)", 150, 214},
		{"shared after a fork", `
x = bytearray(b'x') * (150 << 20)
for i in range(4):
    r, w = os.pipe()
    if os.fork() == 0: os.write(w, b'x'); time.sleep(100)
    os.read(r, 1)`, 150, 300},
		{"children", `
for i in range(4):
    r, w = os.pipe()
    if os.fork() == 0:
        x = bytearray(b'x') * (50 << 20)
        os.write(w, b'x'); time.sleep(100)
    os.read(r, 1)`, 200, 320},
		{"shared memory", `
m = mmap.mmap(-1, 150 << 20)
m.write(b'x' * (150 << 20))
for i in range(4):
    r, w = os.pipe()
    if os.fork() == 0: s = sum(m[::4096]); os.write(w, b'x'); time.sleep(100)
    os.read(r, 1)`, 150, 300},
		{"a file in memory", hiding + "fd = write(150, os.memfd_create('x')); os.dup(fd)", 150, 214},
		{"a file in memory, mapped by several", hiding + `
fd = write(150, os.memfd_create('x'))
m = mmap.mmap(fd, 150 << 20)
for i in range(4):
    r, w = os.pipe()
    if os.fork() == 0: s = sum(m[::4096]); os.write(w, b'x'); time.sleep(100)
    os.read(r, 1)`, 150, 300},
		{"the first thread has ended", hiding + `
def grow():
    global x
    x = bytearray(b'x') * (150 << 20)
alone(grow)`, 150, 214},
		{"a file of a thread, the first has ended", hiding + "alone(lambda: write(150, os.memfd_create('x')))", 150, 214},
		{"page tables", `
m = mmap.mmap(-1, 64 << 30, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
if hasattr(mmap, 'MADV_NOHUGEPAGE'): m.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(0, 64 << 30, 2 << 20): m[i]`, 120, 214},
		{"not touched", "m = mmap.mmap(-1, 1 << 30)", 0, 64},
		{"a mapped file", `
m = mmap.mmap(os.open(sys.executable, os.O_RDONLY), 0, prot=mmap.PROT_READ)
s = sum(m[::4096])`, 0, 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &family.Family{Leader: python(t, tt.program).Process.Pid}
			if tt.atLeast > 0 {
				if reason, _ := Memory(tt.atLeast*mib, c.PIDs).look(nil); reason != executor.ReasonOOM {
					t.Errorf("with %d MiB allowed: reason %q", tt.atLeast, reason)
				}
			}
			if reason, pause := Memory(tt.atMost*mib, c.PIDs).look(nil); reason != "" || pause < memoryTick {
				t.Errorf("with %d MiB allowed: reason %q, pause %v", tt.atMost, reason, pause)
			}
		})
	}
}

func TestMemoryNothingToCheck(t *testing.T) {
	if c := Memory(-1, func() []int { return nil }); c != nil {
		t.Error("a check without limit")
	}
	if c := Memory(5, nil); c != nil {
		t.Error("a check without processes")
	}
	if reason, _ := Memory(5, func() []int { return []int{1 << 30} }).look(nil); reason != "" {
		t.Errorf("no process: reason %q", reason)
	}
	stop := make(chan struct{})
	close(stop)
	if reason, _ := Memory(5, func() []int { return []int{os.Getpid()} }).look(stop); reason != "" {
		t.Errorf("after the end: reason %q", reason)
	}
}

func TestShares(t *testing.T) {
	self, parent := os.Getpid(), os.Getppid()
	if !shares(kcmpVM, self, []int{self}) {
		t.Skip("the kernel does not tell") // the kernel lacks CONFIG_KCMP, or seccomp forbids it
	}
	if shares(kcmpVM, self, []int{parent, 1 << 30}) || shares(kcmpVM, self, nil) {
		t.Error("shared with another program")
	}
}

func TestKilobytes(t *testing.T) {
	text := []byte("Name:\tx\nVmHWM:\t     12 kB\nRssAnon:\t    3 kB\nRssFile:\t x kB\nVmSwap:\t7")
	for field, want := range map[string]int64{"VmHWM:": 12 << 10, "RssAnon:": 3 << 10, "RssFile:": 0, "VmSwap:": 7 << 10, "Anon:": 0, "Other:": 0} {
		if got := kilobytes(text, field); got != want {
			t.Errorf("%s %d, want %d", field, got, want)
		}
	}
}

// TestMemoryEndsCommands has processes that grow, each only a little.
func TestMemoryEndsCommands(t *testing.T) {
	c := &family.Family{Leader: python(t, `
for i in range(8):
    if os.fork() == 0:
        x = []
        while len(x) < 100: x.append(bytearray(b'x') * (1 << 20)); time.sleep(0.01)
        time.sleep(100)`).Process.Pid}
	var reasons []executor.Reason
	runChecks(nil, func(r executor.Reason) { reasons = append(reasons, r) }, Memory(256<<20, c.PIDs))
	if !slices.Equal(reasons, []executor.Reason{executor.ReasonOOM}) {
		t.Errorf("reasons %q", reasons)
	}
}
