//go:build amd64 || arm64

package executortest

import "golang.org/x/sys/unix"

// limitAttacks try to use more than the limits of the command.
var limitAttacks = []attack{
	{name: "open files without end", holds: always, needs: manyFilesAllowed, without: "CLOSED(EMFILE)", probe: `
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
for _ in range(5000): os.dup(0)`},
	{name: "core files", holds: always, probe: `
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
if resource.getrlimit(resource.RLIMIT_CORE)[0] in (0, 1): no('none')`},
	{name: "a huge file", holds: func(c caps) bool { return c.FileBytes.Enforced }, probe: `
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.truncate(os.open('huge', os.O_CREAT | os.O_RDWR), 1 << 40)`},
	{name: "a huge file by fallocate", holds: func(c caps) bool { return c.FileBytes.Enforced }, probe: `
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.posix_fallocate(os.open('huge2', os.O_CREAT | os.O_RDWR), (300 << 20) - 1, 1)`},
	raises("RLIMIT_FSIZE", func(c caps) bool { return c.FileBytes.Enforced }),
	raises("RLIMIT_CPU", func(c caps) bool { return c.CPU.Enforced }),
	raises("RLIMIT_CORE", always), raises("RLIMIT_NOFILE", always),
	{name: "terminals without end", holds: isolated, probe: `
for _ in range(200): os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)`},
}

// manyFilesAllowed reports whether a plain process may open as many files as the attack does.
func manyFilesAllowed(*target) bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Max > 5100
}

// raises tries to raise a limit that the executor has set. A plain process does not try it, because
// it has no limit.
func raises(limit string, holds claim) attack {
	return attack{name: "raise " + limit, holds: holds, probe: `
hard = resource.getrlimit(resource.` + limit + `)[1]
if hard == resource.RLIM_INFINITY or hard > 1 << 40: return
if T['plain']: return
try: resource.setrlimit(resource.` + limit + `, (hard + 1, hard + 1))
except ValueError: no('EPERM')`}
}
