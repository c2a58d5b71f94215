//go:build amd64 || arm64

package executortest

// knownLeaks are attacks that no executor holds, as docs/sandbox.md says. A test fails when an
// executor does hold one: then the attack belongs to another list.
var knownLeaks = []attack{
	// mountinfo names it from the root of its file system on.
	{name: "where the workspace is on the host", holds: known, probe: `
if '/'.join(T['hidden'].split('/')[-2:]) not in read('/proc/self/mountinfo').decode().replace('\\040', ' ') + os.getcwd(): no('none')`},
	{name: "version of the kernel", holds: known, probe: `read('/proc/version')`},
	{name: "memory and load of the machine", holds: known, probe: `
if not (read('/proc/meminfo') and read('/proc/loadavg')): no('none')`},
	{name: "number of this boot", holds: known, probe: `read('/proc/sys/kernel/random/boot_id')`},
	{name: "which programs the host starts", holds: known, probe: `
fd = C.inotify_init()
if C.inotify_add_watch(fd, b'/usr/bin/true', 0x20) < 0: raise OSError(ctypes.get_errno(), '')
import select
if not select.select([fd], [], [], 30)[0]: no('silent')`},
}
