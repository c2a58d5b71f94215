//go:build amd64 || arm64

package executortest

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// callAttacks make system calls that no skill needs and in which kernels have had faults. The
// arguments are such that a call has no effect.
var callAttacks = []attack{
	{name: "bpf", holds: calls, needs: effective(unix.CAP_BPF), without: "OPEN CLOSED(EPERM)", probe: `reach((321, 280), 0xffff, 0, 0)`},
	{name: "perf_event_open", holds: calls, needs: perf, without: "CLOSED(EACCES) CLOSED(EPERM) CLOSED(ENOSYS)", probe: `reach((298, 241), 0, 0, -1, -1, 0)`},
	{name: "userfaultfd", holds: calls, needs: has(unix.SYS_USERFAULTFD, 1), without: "CLOSED(ENOSYS)", probe: `call((323, 282), 1)`},
	{name: "add_key", holds: calls, needs: has(unix.SYS_ADD_KEY, 0), without: "CLOSED(ENOSYS)", probe: `call((248, 217), b'user', b'satchel', b'x', 1, -1)`},
	{name: "request_key", holds: calls, needs: has(unix.SYS_ADD_KEY, 0), without: "CLOSED(ENOSYS)", probe: `reach((249, 218), b'user', b'satchel-none', 0, 0)`},
	{name: "keyctl", holds: calls, needs: has(unix.SYS_ADD_KEY, 0), without: "CLOSED(ENOSYS)", probe: `call((250, 219), 0, -3, 0)`},
	{name: "io_uring_setup", holds: calls, needs: has(unix.SYS_IO_URING_SETUP, 0), without: "CLOSED(ENOSYS) CLOSED(EPERM)", probe: `reach(425, 1, 0)`},
	{name: "io_setup", holds: calls, needs: has(unix.SYS_IO_SETUP, 0), without: "CLOSED(ENOSYS)", probe: `reach((206, 0), 0, 0)`},
	{name: "ptrace", holds: calls, probe: `call((101, 117), 0, 0, 0, 0)`},
	{name: "process_vm_readv", holds: calls, probe: `
b = ctypes.create_string_buffer(16)
v = struct.pack('NN', ctypes.addressof(b), 16)
call((310, 270), os.getpid(), v, 1, v, 1, 0)`},
	{name: "process_madvise", holds: calls, probe: `reach(440, -1, 0, 0, 0, 0)`},
	{name: "kcmp", holds: calls, needs: has(unix.SYS_KCMP, 0), without: "CLOSED(ENOSYS)", probe: `call((312, 272), os.getpid(), os.getpid(), 1, 0, 0)`},
	{name: "pidfd_getfd", holds: calls, probe: `call(438, os.pidfd_open(os.getpid()), 0, 0)`},
	{name: "name_to_handle_at", holds: calls, needs: func(g *target) bool { return g.facts["handle"] != "" }, without: "CLOSED(EOPNOTSUPP)", probe: `
call((303, 264), -100, b'.', ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128)), ctypes.create_string_buffer(4), 0)`},
	{name: "fanotify", holds: calls, needs: has(unix.SYS_FANOTIFY_INIT, 0x200), without: "CLOSED(ENOSYS) CLOSED(EPERM)", probe: `call((300, 262), 0x200, 0)`},
	{name: "personality", holds: calls, probe: `call((135, 92), 0x0040000)`},
	{name: "log of the kernel", holds: calls, needs: effective(unix.CAP_SYSLOG), without: "OPEN CLOSED(EPERM)", probe: `call((103, 116), 10, 0, 0)`},
	{name: "clock", holds: calls, probe: `call((159, 171), ctypes.create_string_buffer(208))`},
	{name: "memory by node", holds: calls, needs: has(unix.SYS_GET_MEMPOLICY, 0), without: "CLOSED(ENOSYS)", probe: `call((239, 236), 0, 0, 0, 0, 0)`},
	{name: "segments", holds: calls, needs: amd64, without: "CLOSED(none)", probe: `reach((154, None), 0, 0, 0)`},
	{name: "modules", holds: privilege, needs: has(unix.SYS_INIT_MODULE, 0), without: "CLOSED(EPERM) CLOSED(ENOSYS)", probe: `reach((175, 105), 0, 0, b'')`},
	{name: "a filter that decides for children", holds: calls, probe: `
C.prctl(38, 1, 0, 0, 0)
code = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))
call((317, 277), 1, 8, struct.pack('HxxxxxxQ', 1, ctypes.addressof(code)))`},
	{name: "number that no kernel has", holds: known, needs: never, without: "CLOSED(ENOSYS)", probe: `call(1000)`},
	{name: "calls of the 32-bit kernel", holds: calls, needs: emulated, without: "CLOSED(SIGSEGV) CLOSED(none)", probe: machineCode},
	{name: "calls of the x32 kernel", holds: known, needs: never, without: "CLOSED(ENOSYS)", probe: `call(0x40000000 | 39)`},
}

// machineCode calls getpid by int 0x80, which has other numbers than this architecture.
const machineCode = `
if ARM: no('none')
import mmap
m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
m.write(bytes([0x53, 0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0x5b, 0xc3]))
f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
if f() != os.getpid(): no('other')`

// never says that no plain process can make an attack.
func never(*target) bool { return false }

func amd64(*target) bool { return runtime.GOARCH == "amd64" }

// ioPorts reports whether a process may use the ports of devices.
func ioPorts(g *target) bool {
	const iopl = 172
	return amd64(g) && effective(unix.CAP_SYS_RAWIO)(g) && has(iopl, 0)(g)
}

// emulated reports whether the kernel has the calls of i386.
func emulated(g *target) bool {
	if !amd64(g) {
		return false
	}
	_, err := os.Stat("/proc/sys/abi/vsyscall32")
	return err == nil
}

// has reports whether the kernel of this machine has a call, for this user.
func has(number, argument uintptr) func(*target) bool {
	return func(*target) bool {
		fd, _, e := unix.Syscall(number, argument, 0, 0)
		if e == 0 && (number == unix.SYS_USERFAULTFD || number == unix.SYS_FANOTIFY_INIT) {
			_ = unix.Close(int(fd))
		}
		return e != unix.ENOSYS && e != unix.EPERM
	}
}

// perf reports whether this process may use performance counters.
func perf(*target) bool {
	_, _, e := unix.Syscall6(unix.SYS_PERF_EVENT_OPEN, 0, 0, ^uintptr(0), ^uintptr(0), 0, 0)
	return e == unix.EFAULT
}
