//go:build amd64 || arm64

package seccomp

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These tests run copies of the test binary, which install the filter for
// themselves and then do what the first argument says.
const childVar = "SECCOMP_TEST_CHILD"

func TestMain(m *testing.M) {
	if task := os.Getenv(childVar); task != "" {
		_ = os.Unsetenv(childVar)
		runtime.LockOSThread()
		if name := os.Getenv("SECCOMP_TEST_FILTER"); name != "none" {
			install(policies[name])
		}
		child(task)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child performs one task under the filter, and writes its result as JSON.
func child(task string) {
	switch task {
	case "exec":
		args := strings.Split(os.Getenv("SECCOMP_TEST_ARGS"), "\x1f")
		die("exec", syscall.Exec(args[0], args, []string{"PATH=/usr/bin:/bin", "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}))
	case "probe":
		results := map[string]string{}
		for _, p := range probes() {
			results[p.name] = try(p.number, p.args...)
		}
		die("report", json.NewEncoder(os.Stdout).Encode(results))
	case "sweep":
		die("report", json.NewEncoder(os.Stdout).Encode(sweep()))
	case "int80":
		int80()
	case "getppid":
		timeSyscalls()
	}
}

func die(step string, err error) {
	if err != nil {
		_, _ = os.Stderr.WriteString(step + ": " + err.Error() + "\n")
		os.Exit(125)
	}
}

// install puts the filter on all threads of the process.
func install(p Policy) {
	raw, err := Filter(p)
	die("filter", err)
	die("no_new_privs", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	program := unix.SockFprog{Len: uint16(len(raw) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&raw[0]))}
	stuck, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(raw)
	if errno != 0 {
		die("seccomp", errno)
	}
	if stuck != 0 {
		die("seccomp", errors.New("a thread could not be filtered"))
	}
}

// inside runs a task in a copy of this binary. The filter is "none" or the name
// of a policy.
func inside(t testing.TB, filter, task string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{
		childVar + "=" + task, "SECCOMP_TEST_FILTER=" + filter, "HOME=" + cmd.Dir,
		"SECCOMP_TEST_ARGS=" + strings.Join(args, "\x1f"),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the session has no terminal that vhangup could hang up
	return cmd
}

// report runs a task and decodes what it wrote.
func report(t testing.TB, cmd *exec.Cmd, into any) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// try makes a system call and returns the name of its error, "ok" without one.
func try(number uintptr, args ...uintptr) string {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno == 0 {
		return "ok"
	}
	return unix.ErrnoName(errno)
}

const bad = ^uintptr(0) // neither a descriptor nor an address

// probe is a call that does nothing if it is allowed: it fails for another
// reason, or succeeds without effect.
type probe struct {
	name   string
	number uintptr
	args   []uintptr
	want   string // result under the policy "namespaces"
	alone  string // result under the policy "unconfined"; "" if it is the same
}

func probes() []probe {
	type a = []uintptr
	return []probe{
		{"unshare nothing", unix.SYS_UNSHARE, a{0}, "EPERM", ""},
		{"setns", unix.SYS_SETNS, a{bad, 0}, "EPERM", ""},
		{"clone a namespace", unix.SYS_CLONE, a{unix.CLONE_NEWNS | unix.CLONE_FS}, "EPERM", ""}, // EINVAL without the filter
		{"clone3", unix.SYS_CLONE3, a{0, 0}, "ENOSYS", ""},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, a{1, 0}, "ENOSYS", ""},
		{"io_setup", unix.SYS_IO_SETUP, a{1, 0}, "ENOSYS", ""},
		{"memfd_secret", unix.SYS_MEMFD_SECRET, a{bad}, "ENOSYS", ""},
		{"ptrace", unix.SYS_PTRACE, a{bad, bad}, "EPERM", ""},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, a{bad, 0, 0}, "EPERM", ""},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, a{0, 0, bad, 0, 0, bad}, "EPERM", ""},
		{"keyctl", unix.SYS_KEYCTL, a{bad}, "EPERM", ""},
		{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, a{bad, bad, bad, bad, bad}, "EPERM", ""},
		{"personality", unix.SYS_PERSONALITY, a{0x0040000}, "EPERM", ""},
		{"personality, asked for", unix.SYS_PERSONALITY, a{0xffffffff}, "ok", ""},
		{"TIOCSTI", unix.SYS_IOCTL, a{bad, 0x5412}, "EPERM", ""},
		{"TIOCSTI with a high bit", unix.SYS_IOCTL, a{bad, 0x1_0000_5412}, "EPERM", ""},
		{"TIOCLINUX with a high bit", unix.SYS_IOCTL, a{bad, 0x1_0000_541c}, "EPERM", ""},
		{"reserve by ioctl", unix.SYS_IOCTL, a{bad, 0x4030582a}, "ENOTSUP", ""},
		{"reserve by ioctl with a high bit", unix.SYS_IOCTL, a{bad, 0x1_4030_5839}, "ENOTSUP", ""},
		{"fallocate", unix.SYS_FALLOCATE, a{bad, 0, 0, 1}, "ENOTSUP", ""},
		{"fallocate beyond the size", unix.SYS_FALLOCATE, a{bad, 1, 0, 1}, "ENOTSUP", ""},
		{"a hole", unix.SYS_FALLOCATE, a{bad, 3, 0, 1}, "EBADF", ""},
		{"TCGETS", unix.SYS_IOCTL, a{bad, 0x5401}, "EBADF", ""},
		{"AF_VSOCK", unix.SYS_SOCKET, a{40, 1, 0}, "EAFNOSUPPORT", ""},
		{"AF_VSOCK with a high bit", unix.SYS_SOCKET, a{1<<32 | 40, 1, 0}, "EAFNOSUPPORT", ""},
		{"MPTCP", unix.SYS_SOCKET, a{2, 1, 262}, "EPERM", "EAFNOSUPPORT"},
		{"TCP", unix.SYS_SOCKET, a{2, 1, 0}, "ok", "EAFNOSUPPORT"},
		{"netlink audit", unix.SYS_SOCKET, a{16, 3, 9}, "EPERM", "EAFNOSUPPORT"},
		{"a pair of datagrams", unix.SYS_SOCKETPAIR, a{1, 2, 0, bad}, "EFAULT", "EPERM"},
		{"a pair of streams", unix.SYS_SOCKETPAIR, a{1, 1, 0, bad}, "EFAULT", ""},
		{"a device", unix.SYS_MKNODAT, a{bad, 0, 0o020600}, "EPERM", ""},
		{"a device with bits above the mode", unix.SYS_MKNODAT, a{bad, 0, 0o020600 | 1<<16 | 1<<32}, "EPERM", ""},
		{"a pipe by name", unix.SYS_MKNODAT, a{bad, 0, 0o010600}, "EFAULT", ""},
		{"listener of a filter", unix.SYS_SECCOMP, a{1, 8, 0}, "EPERM", ""},
		{"filter of its own", unix.SYS_SECCOMP, a{1, 0, 0}, "EFAULT", ""},
		{"limits of another process", unix.SYS_PRLIMIT64, a{1 << 30, 7, 0, 0}, "ESRCH", "EPERM"},
		{"new limits of another process", unix.SYS_PRLIMIT64, a{1, 7, 1, 0}, "EPERM", ""},    // EFAULT without the filter
		{"schedule the first process", unix.SYS_SCHED_SETSCHEDULER, a{1, 0, 0}, "EPERM", ""}, // EINVAL
		{"own priority", unix.SYS_SETPRIORITY, a{0, 0, 0}, "ok", ""},
		{"priority of all", unix.SYS_SETPRIORITY, a{2, 1 << 30, 0}, "EPERM", ""},   // ESRCH
		{"many semaphores", unix.SYS_SEMGET, a{1 << 30, 32, 0}, "EPERM", "ENOSYS"}, // ENOENT
		{"own limits", unix.SYS_PRLIMIT64, a{0, 7, 0, 0}, "ok", ""},
		{"connect", unix.SYS_CONNECT, a{bad, 0, 0}, "EBADF", "EPERM"},
		{"shmat", unix.SYS_SHMAT, a{bad, 0, 0}, "EINVAL", "ENOSYS"},
		{"x32", 0x40000000 | unix.SYS_GETPID, nil, "ENOSYS", ""},
		{"a call to come", 1000, nil, "ENOSYS", ""},
	}
}

// sameWithout are probes to which a kernel without the feature, or a host that
// forbids it, gives the same answer as the filter.
var sameWithout = []string{
	"io_uring_setup", "memfd_secret", "AF_VSOCK", "AF_VSOCK with a high bit", "netlink audit", "x32", "a call to come",
	"a device", "a device with bits above the mode", // the user may not create devices
}

func TestKernelObeys(t *testing.T) {
	var free map[string]string
	report(t, inside(t, "none", "probe"), &free)
	for name, p := range policies {
		t.Run(name, func(t *testing.T) {
			var got map[string]string
			report(t, inside(t, name, "probe"), &got)
			for _, probe := range probes() {
				want := probe.want
				if !p.Namespaces && probe.alone != "" {
					want = probe.alone
				}
				if got[probe.name] != want {
					t.Errorf("%s: %s, want %s", probe.name, got[probe.name], want)
				}
				refused := want == "EPERM" || want == "ENOSYS" || want == "EAFNOSUPPORT" || want == "ENOTSUP"
				if refused && free[probe.name] == want && !slices.Contains(sameWithout, probe.name) {
					t.Errorf("%s: %s without the filter too: the probe shows nothing", probe.name, want)
				}
			}
		})
	}
}

// sweep makes every call that is refused whatever its arguments are, and returns
// those that got another answer than the rule says. The arguments are invalid for
// every call.
func sweep() map[string]string {
	if got := try(unix.SYS_UNSHARE, 0); got != "EPERM" {
		return map[string]string{"unshare": got} // no filter is installed: do not go on
	}
	t, _ := tableOf(Arch(runtime.GOARCH))
	wrong := map[string]string{}
	for _, list := range t.calls {
		for _, c := range list {
			for _, r := range slices.Concat(refusedCalls, absentCalls) {
				if !slices.Contains(strings.Fields(r.calls), c.name) {
					continue
				}
				got := try(uintptr(c.number), bad, bad, bad, bad, bad, bad)
				if want := unix.ErrnoName(syscall.Errno(r.decision.(verdict) & 0xffff)); got != want {
					wrong[c.name] = got
				}
			}
		}
	}
	return wrong
}

func TestKernelRefuses(t *testing.T) {
	for name := range policies {
		var wrong map[string]string
		report(t, inside(t, name, "sweep"), &wrong)
		for call, got := range wrong {
			t.Errorf("%s: %s got %s", name, call, got)
		}
	}
}

func TestPolicyOfChildren(t *testing.T) {
	for name := range policies {
		out, err := inside(t, name, "exec", "/bin/sh", "-c", "/bin/true && grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status").CombinedOutput()
		if want := "NoNewPrivs:\t1\nSeccomp:\t2\n"; err != nil || string(out) != want {
			t.Errorf("%s: %v: %q, want %q", name, err, out, want)
		}
	}
}
