//go:build amd64 || arm64

package executortest

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// privilegeAttacks try to become another user or to gain a capability.
var privilegeAttacks = []attack{
	{name: "capabilities", holds: privilege, needs: privileged, without: "CLOSED(none)", probe: `
if not any(int(status('Cap' + set), 16) for set in ('Inh', 'Prm', 'Eff', 'Amb')): no('none')`},
	{name: "bounding set", holds: separate, probe: `
if not int(status('CapBnd'), 16): no('empty')`},
	{name: "new privileges", holds: privilege, needs: statusIs("NoNewPrivs", "0"), without: "CLOSED(forbidden)", probe: `
if status('NoNewPrivs') == '1': no('forbidden')`},
	{name: "no filter", holds: calls, needs: statusIs("Seccomp", "0"), without: "CLOSED(filter)", probe: `
if status('Seccomp') == '2': no('filter')`},
	{name: "be root", holds: privilege, needs: effective(unix.CAP_SETUID), without: "CLOSED(uid) CLOSED(EPERM)", probe: `
if 0 not in os.getresuid(): os.setuid(0)`},
	{name: "be root's group", holds: privilege, needs: effective(unix.CAP_SETGID), probe: `
if 0 not in os.getresgid() + tuple(os.getgroups()): os.setgid(0)`},
	{name: "be somebody else", holds: privilege, needs: effective(unix.CAP_SETUID), probe: `os.setresuid(4321, 4321, 4321)`},
	{name: "join groups", holds: privilege, needs: effective(unix.CAP_SETGID), probe: `os.setgroups([0, 4, 27])`},
	{name: "give a file away", holds: privilege, needs: effective(unix.CAP_CHOWN), probe: `
open('mine', 'x')
os.chown('mine', 4321, 4321)`},
	{name: "a file with capabilities", holds: privilege, needs: effective(unix.CAP_SETFCAP), without: "CLOSED(EPERM) CLOSED(EOPNOTSUPP)", probe: `
open('capable', 'x')
os.setxattr('capable', 'security.capability', struct.pack('<5I', 0x02000001, 1 << 21, 0, 0, 0))`},
	{name: "a file that cannot be removed", holds: privilege, needs: effective(unix.CAP_LINUX_IMMUTABLE), without: "CLOSED(EPERM) CLOSED(ENOTTY) CLOSED(EOPNOTSUPP)", probe: `
import fcntl
fd = os.open('fixed', os.O_CREAT | os.O_RDONLY)
flags = bytearray(8)
fcntl.ioctl(fd, 0x80086601, flags)
old = struct.unpack('i', flags[:4])[0]
fcntl.ioctl(fd, 0x40086602, struct.pack('ii', old | 0x10, 0))
fcntl.ioctl(fd, 0x40086602, struct.pack('ii', old, 0))`},
	{name: "name the machine", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `
name = os.uname().nodename.encode()
call((170, 161), name, len(name))`},
	{name: "higher priority", holds: privilege, needs: effective(unix.CAP_SYS_NICE), without: "CLOSED(EACCES) CLOSED(EPERM)", probe: `os.setpriority(os.PRIO_PROCESS, 0, -5)`},
	{name: "real time", holds: privilege, needs: effective(unix.CAP_SYS_NICE), probe: `os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))`},
	{name: "ports of the machine's devices", holds: privilege, needs: ioPorts, without: "CLOSED(EPERM) CLOSED(none) CLOSED(ENOSYS)", probe: `call((172, None), 3)`},
	{name: "set the clock", holds: privilege, needs: effective(unix.CAP_SYS_TIME), probe: `
reach((159, 171), ctypes.create_string_buffer(struct.pack('I', 0x4000) + bytes(204)))`},
}

// namespaceAttacks try to make namespaces and mounts, and to change the root.
var namespaceAttacks = []attack{
	{name: "unshare users", holds: privilege, needs: usersAllowed, without: noNamespace, probe: `call((272, 97), 0x10000000)`},
	{name: "unshare mounts", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `call((272, 97), 0x20000)`},
	{name: "unshare the network", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `call((272, 97), 0x40000000)`},
	{name: "clone users", holds: privilege, needs: usersAllowed, without: noNamespace, probe: `
if call((56, 220), 0x10000011, 0, 0, 0, 0) == 0: os._exit(0)`},
	{name: "clone users and mounts", holds: privilege, needs: usersAllowed, without: noNamespace, probe: `
if call((56, 220), 0x10020011, 0, 0, 0, 0) == 0: os._exit(0)`},
	{name: "clone3 users", holds: privilege, needs: usersAllowed, without: noNamespace, probe: `
if call(435, struct.pack('11Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88) == 0: os._exit(0)`},
	{name: "a child of the parent", holds: calls, probe: `
if call((56, 220), 0x8011, 0, 0, 0, 0) == 0: os._exit(0)`},
	{name: "mount", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `reach((165, 40), b'none', b'.', b'no-such-type', 0, 0)`},
	{name: "make the skills writable", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `reach((165, 40), 0, T['skills'][0].encode(), 0, 0x1020, 0)`},
	{name: "unmount", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `reach((166, 39), b'.', 2)`},
	{name: "open a file system", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `call(430, b'tmpfs', 0)`},
	{name: "copy a mount", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `call(428, -100, b'.', 1)`},
	{name: "attributes of a mount", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `reach(442, os.open('.', os.O_PATH), b'', 0x1000, bytes(32), 32)`},
	{name: "another root directory", holds: privilege, needs: effective(unix.CAP_SYS_CHROOT), probe: `os.chroot('.')`},
	{name: "pivot the root", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `reach((155, 41), b'no-such-directory', b'.')`},
	{name: "swap", holds: privilege, needs: effective(unix.CAP_SYS_ADMIN), probe: `reach((167, 224), b'no-such-file', 0)`},
	{name: "account for processes", holds: privilege, needs: effective(unix.CAP_SYS_PACCT), without: "CLOSED(EPERM) CLOSED(ENOSYS)", probe: `reach((163, 89), b'no-such-file')`},
	{name: "reboot", holds: privilege, needs: effective(unix.CAP_SYS_BOOT), probe: `reach((169, 142), 0, 0, 0, 0)`},
}

const noNamespace = "CLOSED(EPERM) CLOSED(ENOSPC) CLOSED(EACCES) CLOSED(ENOSYS) CLOSED(EUSERS)"

// usersAllowed reports whether a plain process can have a user namespace.
func usersAllowed(*target) bool {
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	return cmd.Run() == nil
}

// privileged reports whether this process has any capability.
func privileged(*target) bool {
	for capability := range uint(unix.CAP_LAST_CAP + 1) {
		if effective(capability)(nil) {
			return true
		}
	}
	return false
}

// statusIs reports whether a field in the status of this process has a value.
func statusIs(name, value string) func(*target) bool {
	return func(*target) bool {
		text, err := os.ReadFile("/proc/self/status")
		return err == nil && bytes.Contains(text, []byte(name+":\t"+value+"\n"))
	}
}
