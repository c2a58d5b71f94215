//go:build amd64 || arm64

package executortest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// machineAttacks read or change settings of the machine by /proc.
var machineAttacks = []attack{
	asks("/proc/kcore"), asks("/proc/kallsyms"), asks("/proc/cmdline"), asks("/proc/interrupts"),
	asks("/proc/diskstats"), asks("/proc/partitions"), asks("/proc/timer_list"), asks("/proc/keys"), asks("/proc/key-users"),
	asks("/proc/swaps"), asks("/proc/slabinfo"), asks("/proc/vmallocinfo"),
	opens("/proc/kmsg", os.O_RDONLY|unix.O_NONBLOCK), opens("/dev/kmsg", os.O_RDONLY|unix.O_NONBLOCK), opens("/dev/mem", os.O_RDONLY),
	opens("/proc/sys/kernel/core_pattern", os.O_WRONLY), opens("/proc/sys/kernel/hostname", os.O_WRONLY),
	opens("/proc/sys/vm/drop_caches", os.O_WRONLY), opens("/proc/sys/user/max_user_namespaces", os.O_WRONLY),
	opens("/proc/irq/default_smp_affinity", os.O_WRONLY), opens("/proc/sysrq-trigger", os.O_WRONLY),
	opens("/proc/pressure/cpu", os.O_RDWR),
	{name: "shield from the out-of-memory killer", holds: privilege, needs: effective(unix.CAP_SYS_RESOURCE), without: "CLOSED(EACCES)", probe: `os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000')`},
	{name: "name of the machine", holds: separate, probe: `
if os.uname().nodename != T['hostname']: no('another')`},
	{name: "ports of the machine", holds: separate, probe: `
if (':%04X ' % T['tcp']) not in read('/proc/net/tcp').decode(): no('none')`},
	{name: "shared memory of the machine", holds: separate, probe: `
if str(T['shm']) not in read('/proc/sysvipc/shm').decode().split(): no('none')`},
	{name: "cgroup of the host", holds: separate, needs: inCgroup, without: "CLOSED(none)", probe: `
paths = [l.split(':', 2)[2] for l in read('/proc/self/cgroup').decode().splitlines()]
if not T['cgroup'] or T['cgroup'] not in paths: no('none')`},
}

// asks reads a file that must be empty or missing in a sandbox.
func asks(path string) attack {
	return attack{
		name: path, holds: separate, needs: answers(path), without: "CLOSED(EACCES) CLOSED(EPERM) CLOSED(ENOENT) CLOSED(empty)",
		probe: fmt.Sprintf("if not read('%s', 64).strip(): no('empty')", path),
	}
}

// answers reports whether this process can read more than a byte from a file.
func answers(path string) func(*target) bool {
	return func(*target) bool {
		file, err := os.Open(path)
		if err != nil {
			return false
		}
		defer func() { _ = file.Close() }()
		n, _ := file.Read(make([]byte, 64))
		return n > 1
	}
}

// opens opens a file without reading or writing it.
func opens(path string, flags int) attack {
	return attack{
		name: "open " + path, holds: files, needs: openable(path, flags), without: "CLOSED(EACCES) CLOSED(EPERM) CLOSED(ENOENT) CLOSED(EROFS)",
		probe: fmt.Sprintf("if os.fstat(os.open('%s', %d)).st_rdev == os.makedev(1, 3): no('covered')", path, flags),
	}
}

func inCgroup(g *target) bool { return g.facts["cgroup"] != "" }
