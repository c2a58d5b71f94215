//go:build amd64 || arm64

package executortest

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fileAttacks are attacks on files of the host.
var fileAttacks = []attack{
	{name: "read a file", holds: files, probe: `read(T['secret'])`},
	{name: "read through a link", holds: files, probe: `
os.symlink(T['secret'], 'link')
read('link')`},
	{name: "read through ..", holds: files, probe: `read('../' * 40 + T['secret'][1:])`},
	{name: "read through /proc/self/root", holds: files, probe: `read('/proc/self/root' + T['secret'])`},
	{name: "read through other processes", holds: files, probe: `
either(*[lambda p=p, d=d: read('/proc/%d/%s/%s' % (p, d, T['secret']))
    for p in (1, T['host'], T['victim'], os.getppid()) for d in ('root', 'cwd/../../../../../../../..')])`},
	{name: "list a directory", holds: files, probe: `os.listdir(T['outside'])`},
	{name: "find out that a file exists", holds: separate, probe: `os.stat(T['secret'])`},
	{name: "enter a directory", holds: separate, probe: `os.chdir(T['outside'])`},
	{name: "append to a file", holds: files, harm: changed("appended"), probe: `
with open(T['outside'] + '/appended', 'a') as f: f.write('x')`},
	{name: "truncate a file", holds: files, harm: changed("truncated"), probe: `os.truncate(T['outside'] + '/truncated', 0)`},
	{name: "make a file", holds: files, harm: exists("made"), probe: `open(T['outside'] + '/made', 'x')`},
	{name: "make a nameless file", holds: files, probe: `os.open(T['outside'], os.O_TMPFILE | os.O_RDWR, 0o600)`},
	{name: "make a directory", holds: files, harm: exists("madedir"), probe: `os.mkdir(T['outside'] + '/madedir')`},
	{name: "make a link", holds: files, harm: exists("madelink"), probe: `os.symlink('/', T['outside'] + '/madelink')`},
	{name: "remove a file", holds: files, harm: changed("removed"), probe: `os.unlink(T['outside'] + '/removed')`},
	{name: "remove a directory", holds: files, probe: `os.rmdir(T['outside'] + '/dir')`},
	{name: "take a file away", holds: files, harm: changed("renamed"), probe: `os.rename(T['outside'] + '/renamed', 'mine')`},
	{name: "a second name for a file", holds: files, probe: `
os.link(T['secret'], 'second')
read('second')`},
	{name: "change the mode of a file", holds: separate, harm: modeChanged("mode"), probe: `os.chmod(T['outside'] + '/mode', 0o777)`},
	{name: "change the times of a file", holds: separate, harm: timesChanged("times"), probe: `os.utime(T['outside'] + '/times', (1, 1))`},
	{name: "open a file by its handle", holds: files, needs: handled, without: "CLOSED(EPERM) CLOSED(none)", probe: `
if not T['handle']: no('none')
h = bytes.fromhex(T['handle'])
h = struct.pack('Ii', len(h), T['handletype']) + h
fd = call((304, 265), os.open('.', os.O_RDONLY), h, os.O_RDONLY)
if os.read(fd, 5) != b'sings': no('other file')`},
	{name: "names of users", holds: separate, probe: `
if b'root:' not in read('/etc/passwd'): no('none')`},
	{name: "passwords of users", holds: files, needs: openable("/etc/shadow", os.O_RDONLY), without: "CLOSED(EACCES) CLOSED(ENOENT)",
		probe: `read('/etc/shadow')`},
	{name: "/sys", holds: files, probe: `os.listdir('/sys/kernel')`},
	{name: "write to /", holds: files, needs: writable("/"), without: notWritable, probe: nameless("/")},
	{name: "write to /usr", holds: files, needs: writable("/usr"), without: notWritable, probe: nameless("/usr")},
	{name: "write to /etc", holds: files, needs: writable("/etc"), without: notWritable, probe: nameless("/etc")},
	{name: "write to /dev", holds: files, needs: writable("/dev"), without: notWritable, probe: nameless("/dev")},
	{name: "a writable mount that is not its own", holds: spaces, probe: `
own = ('/workspace', '/tmp', '/dev/shm', '/dev/pts', '/proc')
for line in read('/proc/self/mountinfo').decode().splitlines():
    at, options = line.split()[4:6]
    if at not in own and 'rw' in options.split(','): return
no('none')`},
	{name: "a mount with programs that set the user", holds: spaces, probe: `
for line in read('/proc/self/mountinfo').decode().splitlines():
    if 'nosuid' not in line.split()[5].split(','): return
no('none')`},
	{name: "devices of the host", holds: files, probe: `
mine = ('null', 'zero', 'full', 'random', 'urandom', 'tty')
for name in os.listdir('/dev'):
    mode = os.lstat('/dev/' + name).st_mode
    if name not in mine and (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)): return
no('none')`},
	{name: "make a device", holds: privilege, needs: effective(unix.CAP_MKNOD), probe: `
os.mknod('device', stat.S_IFBLK | 0o600, os.makedev(7, 0))`},
	{name: "make a character device", holds: privilege, needs: effective(unix.CAP_MKNOD), probe: `
os.mknod('null', stat.S_IFCHR | 0o600, os.makedev(1, 3))`},
}

// leftAttacks leave a file in the workspace that harms the host, whose user owns it there.
var leftAttacks = []attack{
	setsUser("chmod", `os.chmod(f, 0o4755)`),
	setsUser("fchmod", `os.fchmod(os.open(f, os.O_RDWR), 0o6755)`),
	setsUser("fchmodat", `call((268, 53), -100, f.encode(), 0o4755)`),
	setsUser("fchmodat2", `
try: call(452, -100, f.encode(), 0o4755, 0)
except OSError as e:
    if e.errno != errno.ENOSYS: raise
    os.chmod(f, 0o4755)`),
	setsUser("open", `
os.unlink(f)
os.umask(0)
os.open(f, os.O_CREAT | os.O_WRONLY, 0o4755)`),
	setsUser("openat2", `
os.unlink(f)
os.umask(0)
call(437, -100, f.encode(), struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, 0o4755, 0), 24)`),
	setsUser("mknod", `
os.unlink(f)
os.umask(0)
os.mknod(f, stat.S_IFREG | 0o4755)`),
	{name: "a group's file by setgid", holds: privilege, probe: `
open('group', 'x')
os.chmod('group', 0o2755)`},
	{name: "a whiteout", holds: privilege, harm: isDevice("white"), probe: `os.mknod('white', stat.S_IFCHR, os.makedev(0, 0))`},
	{name: "a whiteout by rename", holds: privilege, harm: isDevice("moved"), probe: `
open('moved', 'x')
call((316, 276), -100, b'moved', -100, b'away', 4)`},
}

// setsUser makes a file with the setuid bit, in one of several ways.
func setsUser(way, probe string) attack {
	name := "setuid-" + way
	return attack{
		name: "a user's file by " + way, holds: privilege,
		harm: func(g *target) bool {
			info, err := os.Lstat(filepath.Join(g.work, name))
			return err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0
		},
		probe: "f = '" + name + "'\nopen(f, 'x')\n" + probe,
	}
}

// isDevice is the harm of a device file in the workspace.
func isDevice(name string) func(*target) bool {
	return func(g *target) bool {
		info, err := os.Lstat(filepath.Join(g.work, name))
		return err == nil && info.Mode()&os.ModeDevice != 0
	}
}

// skillAttacks are attacks on the skill that a command may read, by each of its paths.
var skillAttacks = []attack{
	{name: "read", holds: known, probe: `either(*[lambda s=s: read(s + '/demo/run') for s in T['skills']])`},
	{name: "write", holds: files, harm: skillChanged("run"), probe: `
def append(s):
    with open(s + '/demo/run', 'a') as f: f.write('x')
either(*[lambda s=s: append(s) for s in T['skills']])`},
	{name: "make a file", holds: files, probe: `either(*[lambda s=s: open(s + '/demo/made', 'x') for s in T['skills']])`},
	{name: "remove", holds: files, harm: skillChanged("removed"), probe: `either(*[lambda s=s: os.unlink(s + '/demo/removed') for s in T['skills']])`},
	{name: "change the mode", holds: spaces, probe: `either(*[lambda s=s: os.chmod(s + '/demo/mode', 0o777) for s in T['skills']])`},
	{name: "change the times", holds: spaces, probe: `either(*[lambda s=s: os.utime(s + '/demo/times', (1, 1)) for s in T['skills']])`},
	{name: "write through a second name", holds: files, harm: skillChanged("linked"), probe: `
def second(s):
    os.link(s + '/demo/linked', 'linked')
    with open('linked', 'a') as f: f.write('x')
either(*[lambda s=s: second(s) for s in T['skills']])`},
	{name: "put another in its place", holds: files, harm: skillChanged("run"), probe: `
def replace(s):
    os.rename(s + '/demo', s + '/other')
    os.mkdir(s + '/demo')
either(*[lambda s=s: replace(s) for s in T['skills']])`},
	{name: "put another directory over all", holds: files, harm: skillsMoved, probe: `
os.rename(T['workspace'] + '/skills', T['workspace'] + '/elsewhere')
os.mkdir(T['workspace'] + '/skills')`},
}
