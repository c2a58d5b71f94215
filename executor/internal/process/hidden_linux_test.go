package process

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
)

// hiding begins Python programs that hold removed files. Its function write takes a number of MiB and
// returns a descriptor.
const hiding = `
import ctypes, socket, threading
libc = ctypes.CDLL(None, use_errno=True)
block = b'x' * (1 << 20)
def write(mib, fd=-1):
    if fd < 0:
        fd = os.open('gone', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink('gone')
    for i in range(mib): os.write(fd, block)
    return fd
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
def page(fd):
    # Python's own mmap keeps a copy of the descriptor
    if libc.mmap(None, 4096, 1, 1, fd, 0) in (None, 2**64 - 1): os._exit(1)
    os.close(fd)
def leave(fd):
    # VM, FS, SIGHAND and THREAD, without FILES: it sleeps with a copy of the table
    global stack
    stack = ctypes.create_string_buffer(1 << 16)
    top = (ctypes.addressof(stack) + (1 << 16)) & ~63
    if libc.clone(libc.sleep, ctypes.c_void_p(top), 0x10b00, ctypes.c_void_p(100)) < 0: os._exit(1)
    os.close(fd)
def alone(run):
    # a thread that lives on when the first has ended
    def body():
        run()
        print('up', flush=True)
        time.sleep(100)
    threading.Thread(target=body).start()
    libc.syscall(EXIT, 0)
EXIT = 60 if os.uname().machine == 'x86_64' else 93
`

// hidden are ways to hold files of %d MiB.
var hidden = []struct {
	name, program string
	exact         bool // root can measure the size
}{
	{"mapped", "page(write(%d))", true},
	{"in a socket", "a, b = socket.socketpair(); fd = write(%d); socket.send_fds(a, [b'x'], [fd]); os.close(fd)", false},
	{"in a socket that waits", `
l = socket.socket(socket.AF_UNIX); l.bind('\0' + str(os.getpid())); l.listen()
c = socket.socket(socket.AF_UNIX); c.connect(l.getsockname())
fd = write(%d); socket.send_fds(c, [b'x'], [fd]); os.close(fd); c.close()`, false},
	{"in a thread's own table", "leave(write(%d))", true},
	{"the first thread ended", "alone(lambda: write(%d))", true},
	{"closed to others", "write(%d); libc.prctl(4, 0, 0, 0, 0)", true},
}

func TestDiskHiddenFiles(t *testing.T) {
	const mib = 256
	for _, tt := range hidden {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := &family.Family{}
			d := openDisk(t, dir, 64<<20, func() []int { return c.PIDs() })
			c.Leader = python(t, fmt.Sprintf("os.chdir(%q)\n", dir)+hiding+fmt.Sprintf(tt.program, mib)).Process.Pid
			h := findHeldFiles(nil, c.PIDs(), deviceOf(t, dir))
			if exact := os.Geteuid() == 0 && tt.exact; h.hidden && exact {
				t.Errorf("hidden: %+v", h.used)
			} else if !h.hidden && h.used.bytes < mib<<20 {
				t.Errorf("held %+v, hidden %v", h.used, h.hidden)
			}
			// Other processes write and free space at the same time.
			d.free = func() (space, bool) { return d.mostFree.minus(space{mib << 20, 1}), true }
			stop := make(chan struct{})
			timer := time.AfterFunc(time.Minute, func() { close(stop) })
			defer timer.Stop()
			var reason executor.Reason
			runChecks(stop, func(r executor.Reason) { reason = r }, unclosed{d})
			if reason != executor.ReasonDisk {
				t.Errorf("ended with %q, held %+v, hidden %v", reason, h.used, h.hidden)
			}
		})
	}
}

func deviceOf(t *testing.T, dir string) uint64 {
	t.Helper()
	info, err := os.Stat(dir)
	must(t, err)
	return uint64(info.Sys().(*syscall.Stat_t).Dev) //nolint:unconvert // the types differ between systems
}

// TestDiskHiddenByOthers has a loss of space that may be somebody else's.
func TestDiskHiddenByOthers(t *testing.T) {
	const limit = 64 << 20
	for _, tt := range []struct {
		name, program string
		lost          int64
		want          executor.Reason
	}{
		{"nothing hidden", "", 10 << 30, ""},
		{"an ordinary socket", "a, b = socket.socketpair(); a.send(b'x')", 10 << 30, ""},
		{"an ended child", "child = os.fork()\nif child == 0: os._exit(0)\nos.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)", 10 << 30, ""},
		{"hidden and little lost", "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0])", limit + minMargin, ""},
		{"hidden and much lost", "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0])", limit + minMargin + 1, executor.ReasonDisk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &family.Family{Leader: python(t, hiding+tt.program).Process.Pid}
			d := openDisk(t, t.TempDir(), limit, c.PIDs)
			d.mostFree = space{1 << 40, 1 << 20}
			d.countedFree = d.mostFree
			d.free = func() (space, bool) { return d.mostFree.minus(space{bytes: tt.lost}), true }
			d.written = func([]int) (int64, bool) { return 0, false }
			d.look(nil)
			first, _ := d.look(nil)
			d.countedAt = d.countedAt.Add(-time.Minute)
			second, _ := d.look(nil)
			if got := max(first, second); got != tt.want {
				t.Errorf("reason %q, want %q", got, tt.want)
			}
		})
	}
}

// TestMemoryHidden has files in memory that no other process can read.
func TestMemoryHidden(t *testing.T) {
	const mib, limit = 320, 128 << 20
	memfd := "\nfd = write(%d, os.memfd_create('x'))\n"
	for name, program := range map[string]string{
		"mapped":           memfd + "page(fd)",
		"in a socket":      memfd + "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [fd]); os.close(fd)",
		"closed to others": memfd + "libc.prctl(4, 0, 0, 0, 0)",
	} {
		t.Run(name, func(t *testing.T) {
			c := &family.Family{}
			m := Memory(limit, func() []int {
				if c.Leader == 0 {
					return nil
				}
				return c.PIDs()
			}).(*memoryCheck)
			if reason, _ := m.look(nil); reason != "" {
				t.Fatalf("nothing runs: reason %q", reason)
			}
			c.Leader = python(t, hiding+fmt.Sprintf(program, mib)).Process.Pid
			m.firstShared = min(m.firstShared, machineShared()-mib<<20) // other processes may have freed some memory
			first, _ := m.look(nil)
			if second, _ := m.look(nil); max(first, second) != executor.ReasonOOM {
				t.Errorf("reasons %q, %q", first, second)
			}
			m.firstShared, m.wasHidden = machineShared(), false
			m.limit = 1 << 30
			if first, _ = m.look(nil); first != "" {
				t.Errorf("below the limit: reason %q", first)
			}
			if second, _ := m.look(nil); second != "" {
				t.Errorf("below the limit, again: reason %q", second)
			}
		})
	}
}
