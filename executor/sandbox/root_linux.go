//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/internal/reexec"
)

// The root of a sandbox shows these paths of the host, besides /usr. Paths that the host does not
// have are left out.
var (
	// systemDirs are links into /usr on most systems.
	systemDirs = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
	// systemFiles are the files of /etc that programs need to find libraries,
	// fonts, certificates and time zones. None of them says who uses this
	// machine, or what for.
	systemFiles = []string{
		"/etc/ImageMagick-6", "/etc/ImageMagick-7", "/etc/R", "/etc/alternatives", "/etc/ca-certificates",
		"/etc/crypto-policies", "/etc/fonts", "/etc/java-11-openjdk", "/etc/java-17-openjdk", "/etc/java-21-openjdk",
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/libreoffice", "/etc/localtime",
		"/etc/mime.types", "/etc/pki/tls/certs", "/etc/protocols", "/etc/python3", "/etc/services",
		"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/texmf", "/etc/timezone",
	}
	devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
	// protectedProc are paths below /proc that change settings of the whole machine. The
	// sandbox has them read-only.
	protectedProc = []string{"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/pressure", "/proc/sysrq-trigger"}
	// coveredProc are files in /proc that reveal something about the whole machine. In the
	// sandbox they are empty.
	coveredProc = []string{
		"/proc/bootconfig", "/proc/cmdline", "/proc/config.gz", "/proc/diskstats", "/proc/interrupts",
		"/proc/kallsyms", "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/latency_stats",
		"/proc/modules", "/proc/partitions", "/proc/sched_debug", "/proc/slabinfo", "/proc/swaps",
		"/proc/timer_list", "/proc/timer_stats", "/proc/vmallocinfo",
	}
)

// userLimits are limits of a user namespace and those below it. Objects in the namespace also count
// for the host's user, who may have 128 inotify instances by default.
var userLimits = map[string]string{
	"/proc/sys/user/max_inotify_instances": "32",
	"/proc/sys/user/max_inotify_watches":   "16384",
	"/proc/sys/user/max_user_namespaces":   "0",
}

// ipcLimits bound semaphore sets, message queues and shared memory. These belong to no process, so
// without a cgroup no other limit counts them. Since Linux 6.9 a sandbox of root may set them for
// its namespace. Seccomp bounds the size of each object.
var ipcLimits = map[string]string{
	"/proc/sys/kernel/sem":    "31 1024 32 64", // semaphores in a set, in all, in a call; sets
	"/proc/sys/kernel/msgmni": "32",
	"/proc/sys/kernel/shmmni": "256",
}

// etc holds the files of /etc that the sandbox has instead of the host's.
var etc = map[string]string{
	"/etc/group":         fmt.Sprintf("skill:x:%d:\nnogroup:x:65534:\n", insideID),
	"/etc/hostname":      hostname + "\n",
	"/etc/hosts":         "127.0.0.1 localhost " + hostname + "\n::1 localhost\n",
	"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	"/etc/passwd": fmt.Sprintf("skill:x:%d:%d:skill:%s:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
		insideID, insideID, workspaceAt),
}

const hostname = "sandbox"

// The attributes of mounts.
const (
	readOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	writable = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	device   = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
)

// planOf returns the plan by which a sandbox is built, and sets the Landlock rules for it.
func (s *Sandbox) planOf(tier executor.Isolation) (*reexec.Plan, error) {
	if tier != executor.IsolationNamespaces {
		return &reexec.Plan{}, s.landlockOnlyRules()
	}
	b := &rootBuilder{made: map[string]bool{"/": true}}
	b.system("/usr")
	for _, path := range slices.Concat(systemDirs, systemFiles) {
		b.system(path)
	}
	for _, path := range slices.Sorted(maps.Keys(etc)) {
		b.parent(path)
		b.add(reexec.Step{Op: reexec.MakeFile, Target: path, Data: etc[path]})
	}
	b.devices()
	b.memory(tempAt, s.temp)
	b.memory("/dev/shm", s.temp)
	b.proc()
	for _, path := range s.readable {
		if info, err := os.Lstat(path); err != nil {
			return nil, fmt.Errorf("%w: readable directory: %w", process.ErrOption, err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%w: readable directory: %q is not a directory", process.ErrOption, path)
		}
		if !s.root {
			b.system(path)
			continue
		}
		b.dir(path) // see mountsOf
		b.rules = append(b.rules, reexec.Rule{Path: path, Access: landlockRead})
	}
	b.dir(workspaceAt)
	b.dir(skillsAt)
	b.dir("/var")
	b.dir("/run")
	b.link("/blobs", "workspace/blobs")
	// A staged skill has links that lead two directories up, such as out: here to the root.
	b.link("/out", "workspace/out")
	b.link("/work", "workspace/work")
	b.link("/runs", "workspace/runs")
	b.link("/var/tmp", "../tmp")
	s.rules = append(b.rules,
		reexec.Rule{Path: "/etc", Access: landlockRead}, reexec.Rule{Path: "/proc", Access: landlockProc | unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
		reexec.Rule{Path: skillsAt, Access: landlockRead}, reexec.Rule{Path: workspaceAt, Access: landlockWrite},
		reexec.Rule{Path: tempAt, Access: landlockWrite}, reexec.Rule{Path: "/dev/shm", Access: landlockWrite},
		reexec.Rule{Path: "/dev/pts", Access: landlockDevice | landlockReadDir}, reexec.Rule{Path: "/", Access: landlockReadDir})
	return &reexec.Plan{Namespaces: true, Host: scaffold(), Hostname: hostname, Steps: b.steps}, nil
}

// scaffold returns the directory on which the new root is built. No workspaces or programs may
// be below it.
func scaffold() string {
	if info, err := os.Stat("/sys"); err == nil && info.IsDir() {
		return "/sys"
	}
	return "/proc"
}

// rootBuilder collects the steps that build a root, and the Landlock rules for it.
type rootBuilder struct {
	steps []reexec.Step
	made  map[string]bool // directories that the steps make
	rules []reexec.Rule
}

func (b *rootBuilder) add(s reexec.Step) { b.steps = append(b.steps, s) }

// dir makes a directory and its parents.
func (b *rootBuilder) dir(path string) {
	if b.made[path] {
		return
	}
	b.parent(path)
	b.made[path] = true
	b.add(reexec.Step{Op: reexec.MakeDir, Target: path, Flags: 0o755})
}

// parent makes the parents of a path.
func (b *rootBuilder) parent(path string) { b.dir(filepath.Dir(path)) }

// link makes a symbolic link.
func (b *rootBuilder) link(path, to string) {
	b.parent(path)
	b.add(reexec.Step{Op: reexec.MakeLink, Source: to, Target: path})
}

// system shows a path of the host read-only, if it exists. A link stays a link;
// its target is visible only if it is itself shown.
func (b *rootBuilder) system(path string) {
	info, err := os.Lstat(path)
	if err != nil || b.made[path] {
		return
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		if to, err := os.Readlink(path); err == nil {
			b.link(path, to)
		}
	case info.IsDir():
		b.dir(path)
		b.add(reexec.Step{Op: reexec.Bind, Source: path, Target: path, Flags: readOnly})
		b.rules = append(b.rules, reexec.Rule{Path: path, Access: landlockRead})
	case info.Mode().IsRegular():
		b.parent(path)
		b.add(reexec.Step{Op: reexec.BindFile, Source: path, Target: path, Flags: readOnly})
	}
}

// devices makes /dev with the devices that programs commonly need.
func (b *rootBuilder) devices() {
	b.dir("/dev")
	for _, path := range devices {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			b.add(reexec.Step{Op: reexec.BindFile, Source: path, Target: path, Flags: device})
			b.rules = append(b.rules, reexec.Rule{Path: path, Access: landlockDevice})
		}
	}
	b.link("/dev/fd", "/proc/self/fd")
	for fd, name := range []string{"stdin", "stdout", "stderr"} {
		b.link("/dev/"+name, "/proc/self/fd/"+strconv.Itoa(fd))
	}
	// The sandbox has its own pseudo terminals, at most 64: the kernel has only a few thousand
	// for the whole machine.
	b.dir("/dev/pts")
	b.add(reexec.Step{Op: reexec.Mount, Source: "devpts", Target: "/dev/pts", Data: "newinstance,ptmxmode=0666,mode=0620,max=64",
		Flags: unix.MS_NOSUID | unix.MS_NOEXEC})
	b.link("/dev/ptmx", "pts/ptmx")
}

// memory mounts a file system in memory, to which all users inside may write.
func (b *rootBuilder) memory(path string, size int64) {
	b.dir(path)
	b.add(reexec.Step{Op: reexec.Mount, Source: "tmpfs", Target: path,
		Data: fmt.Sprintf("mode=1777,size=%d,nr_inodes=16384", size), Flags: unix.MS_NOSUID | unix.MS_NODEV})
}

// proc mounts a /proc that shows the sandbox's own processes.
func (b *rootBuilder) proc() {
	b.dir("/proc")
	b.add(reexec.Step{Op: reexec.Mount, Source: "proc", Target: "/proc", Flags: unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC})
	for _, path := range slices.Sorted(maps.Keys(userLimits)) {
		if exists(path) {
			b.add(reexec.Step{Op: reexec.Set, Target: path, Data: userLimits[path]})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(ipcLimits)) {
		b.add(reexec.Step{Op: reexec.Try, Target: path, Data: ipcLimits[path]})
	}
	for _, path := range protectedProc {
		if exists(path) {
			b.add(reexec.Step{Op: reexec.Protect, Target: path, Flags: readOnly | unix.MOUNT_ATTR_NOEXEC})
		}
	}
	for _, path := range coveredProc {
		if exists(path) {
			b.add(reexec.Step{Op: reexec.Cover, Source: "/dev/null", Target: path})
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// tempAt is the temporary directory of a command, in memory that no other command sees.
const tempAt = "/tmp"

// inside returns the path at which a command finds a place in its workspace.
func inside(place string) string { return path.Join(workspaceAt, place) }
