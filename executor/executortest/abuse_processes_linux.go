//go:build amd64 || arm64

package executortest

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// processAttacks are attacks on another process of the same user.
var processAttacks = []attack{
	{name: "see it", holds: separate, probe: `os.stat('/proc/%d' % T['victim'])`},
	{name: "its command line", holds: separate, probe: `
if not read('/proc/%d/cmdline' % T['victim']): no('empty')`},
	{name: "its environment", holds: others, probe: `
for name in os.listdir('/proc'):
    try:
        if name.isdigit() and int(name) not in (os.getpid(), os.getppid()) and T['token'].encode() in read('/proc/%s/environ' % name): return
    except OSError: pass
no('none')`},
	{name: "the environment of the host", holds: always, probe: `
if T['token'] not in os.environ.values(): no('none')`},
	{name: "the program of the host", holds: others, probe: `
either(*[lambda p=p: read('/proc/%d/exe' % p, 64) for p in (1, T['host'])])`},
	{name: "how many files the host has open", holds: separate, probe: `
either(*[lambda p=p: os.listdir('/proc/%d/fd' % p) for p in (1, T['host'])])`},
	{name: "open files of the host", holds: others, probe: `
either(*[lambda p=p, n=n: os.readlink('/proc/%d/fd/%d' % (p, n)) for p in (1, T['host']) for n in range(8)])`},
	{name: "a name for the program of the host", holds: others, probe: `
either(*[lambda p=p: os.readlink('/proc/%d/exe' % p) for p in (1, T['host'])])`},
	{name: "look for it", holds: others, probe: `os.kill(T['victim'], 0)`},
	{name: "kill it", holds: others, harm: preyEnded, probe: `
os.kill(T['prey'], signal.SIGKILL)
while read('/proc/%d/stat' % T['prey']).rsplit(b')')[1].split()[0] not in b'ZX': time.sleep(0.01)`},
	{name: "signal it by a descriptor", holds: others, probe: `signal.pidfd_send_signal(os.pidfd_open(T['victim']), 0)`},
	{name: "queue a signal for it", holds: others, probe: `call((129, 138), T['victim'], 0, struct.pack('iiii', 0, 0, -1, 0) + bytes(112))`},
	{name: "trace it", holds: others, needs: mayTraceOthers, probe: `call((101, 117), 0x4206, T['victim'], 0, 0)`},
	{name: "its memory", holds: others, needs: mayTraceOthers, without: "CLOSED(EACCES)", probe: `os.open('/proc/%d/mem' % T['victim'], os.O_RDWR)`},
	{name: "read its memory", holds: others, needs: mayTraceOthers, probe: `
b = ctypes.create_string_buffer(16)
at = int(read('/proc/%d/maps' % T['victim']).split(b'-')[0], 16)
to, of = struct.pack('NN', ctypes.addressof(b), 16), struct.pack('NN', at, 16)
call((310, 270), T['victim'], to, 1, of, 1, 0)`},
	{name: "take its descriptors", holds: others, needs: mayTraceOthers, probe: `call(438, os.pidfd_open(T['victim']), 0, 0)`},
	{name: "bound it", holds: others, harm: isBounded, probe: `resource.prlimit(T['victim'], resource.RLIMIT_NOFILE, (77, 77))`},
	{name: "slow it", holds: others, harm: isSlowed, probe: `os.setpriority(os.PRIO_PROCESS, T['victim'], 19)`},
	{name: "slow its disk", holds: others, probe: `call((251, 30), 1, T['victim'], (3 << 13))`},
	{name: "move it to one processor", holds: others, probe: `os.sched_setaffinity(T['victim'], {min(os.sched_getaffinity(0))})`},
	{name: "offer it to the out-of-memory killer", holds: others, harm: isOffered, probe: `os.write(os.open('/proc/%d/oom_score_adj' % T['victim'], os.O_WRONLY), b'999')`},
	{name: "forget which memory it uses", holds: others, probe: `os.write(os.open('/proc/%d/clear_refs' % T['victim'], os.O_WRONLY), b'1')`},
	{name: "change how it dumps", holds: others, probe: `os.write(os.open('/proc/%d/coredump_filter' % T['victim'], os.O_WRONLY), b'0x33')`},
	{name: "memory of the process above", holds: others, needs: mayTraceOthers, without: "CLOSED(EACCES)", probe: `
above = next(l.split()[1] for l in read('/proc/%d/status' % os.getppid()).decode().splitlines() if l.startswith('PPid:'))
os.open('/proc/%s/mem' % above, os.O_RDWR)`},
	{name: "trace the process above", holds: others, needs: mayTraceOthers, probe: `
above = next(l.split()[1] for l in read('/proc/%d/status' % os.getppid()).decode().splitlines() if l.startswith('PPid:'))
call((101, 117), 0x4206, int(above), 0, 0)`},
	{name: "its shared memory", holds: others, probe: `
C.shmat.restype = ctypes.c_void_p
at = C.shmat(T['shm'], None, 0o10000)
if at == ctypes.c_void_p(-1).value: raise OSError(ctypes.get_errno(), '')
if ctypes.string_at(at, 5) != b'sings': no('other')`},
	{name: "its message queue", holds: others, probe: `call((240, 180), T['queue'].encode(), 0, 0, 0)`},
	{name: "enter its namespaces", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), without: "CLOSED(EPERM) CLOSED(EACCES)", probe: `
call((308, 268), os.open('/proc/self/ns/uts', os.O_RDONLY), 0)`},
	{name: "its namespaces", holds: others, probe: `os.stat('/proc/%d/ns/mnt' % T['victim'])`},
	{name: "the first process", holds: separate, contained: true, probe: `
for s in range(1, 65):
    try: os.kill(1, s)
    except OSError: pass
time.sleep(0.1)
no('lives')`},
	{name: "limits of the first process", holds: separate, contained: true, probe: `
either(*[lambda t=t, r=r: resource.prlimit(t, r, (0, 0)) for t in map(int, os.listdir('/proc/1/task')) for r in range(16)])`},
	{name: "rank of the first process", holds: separate, contained: true, probe: `
threads = [int(t) for t in os.listdir('/proc/1/task')]
idle = os.sched_param(0)
either(*[lambda t=t: os.sched_setscheduler(t, os.SCHED_IDLE, idle) for t in threads],
    *[lambda t=t: call((314, 274), t, struct.pack('IIQiIQQQ', 48, 5, 0, 19, 0, 0, 0, 0), 0) for t in threads],
    *[lambda t=t: os.sched_setaffinity(t, {min(os.sched_getaffinity(0))}) for t in threads],
    *[lambda t=t: call((251, 30), 1, t, 3 << 13) for t in threads],
    *[lambda t=t: os.setpriority(os.PRIO_PROCESS, t, 19) for t in threads],
    lambda: os.setpriority(os.PRIO_PGRP, 1, 19), lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
    lambda: call((251, 30), 2, 1, 3 << 13), lambda: call((251, 30), 3, os.getuid(), 3 << 13))`},
}

// mayTraceOthers reports whether a process may trace another one that is not its child.
func mayTraceOthers(g *target) bool {
	level, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch {
	case err != nil || bytes.HasPrefix(level, []byte("0")):
		return true
	case bytes.HasPrefix(level, []byte("3")):
		return false
	}
	return effective(unix.CAP_SYS_PTRACE)(g)
}

// isBounded is the harm of a lower limit of the victim.
func isBounded(g *target) bool {
	var limit unix.Rlimit
	return unix.Prlimit(g.victim, unix.RLIMIT_NOFILE, nil, &limit) != nil || limit.Max == 77
}

// isSlowed is the harm of another priority of the victim.
func isSlowed(g *target) bool {
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // the victim has inherited it
	after, victimErr := unix.Getpriority(unix.PRIO_PROCESS, g.victim)
	return err != nil || victimErr != nil || after != before
}

// isOffered is the harm of a victim that the kernel kills first when memory runs out.
func isOffered(g *target) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(g.victim) + "/oom_score_adj")
	return err != nil || bytes.HasPrefix(text, []byte("999"))
}
