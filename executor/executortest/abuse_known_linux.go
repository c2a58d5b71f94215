//go:build amd64 || arm64

package executortest

import (
	"os"
	"path/filepath"
)

// knownLeaks come through everywhere. They are here so that docs/sandbox.md
// stays true: one that is closed fails, and then has to move.
var knownLeaks = []attack{
	{name: "where the workspace is on the host", holds: known, probe: `
if T['hidden'] not in read('/proc/self/mountinfo').decode() + os.getcwd(): no('none')`},
	{name: "version of the kernel", holds: known, probe: `read('/proc/version')`},
	{name: "memory and load of the machine", holds: known, probe: `
if not (read('/proc/meminfo') and read('/proc/loadavg')): no('none')`},
	{name: "number of this boot", holds: known, probe: `read('/proc/sys/kernel/random/boot_id')`},
	{name: "which programs the host starts", holds: known, probe: `
fd = C.inotify_init()
if C.inotify_add_watch(fd, b'/usr/bin/true', 0x20) < 0: raise OSError(ctypes.get_errno(), '')
import select
if not select.select([fd], [], [], 5)[0]: no('silent')`},
	{name: "a set-user-id file on the disk of the host", holds: known, harm: setsUser, probe: `
with open('setuid', 'x') as f: f.write('#!/bin/sh\n')
os.chmod('setuid', 0o4755)`},
}

func setsUser(g *target) bool {
	info, err := os.Lstat(filepath.Join(g.work, "setuid"))
	return err == nil && info.Mode()&os.ModeSetuid != 0 && info.Mode()&0o001 != 0
}
