package executortest

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// disk tests Limits.Disk, which every executor must enforce: it needs no feature of the kernel.
var disk = []conformance{
	{"workspace filled by many files", manyFiles},
	{"workspace filled by many small files", manySmallFiles},
	{"workspace filled by a removed file", removedFile},
	{"sparse file", sparseFile},
	{"files that were there before", filesBefore},
	{"others fill the disk", othersWrite},
	removedFiles("open", "while True: write()"),
	removedFiles("mapped", "while True: page(write())"),
	removedFiles("in a socket", `
pairs = []
while True:
    pairs.append(socket.socketpair())
    fd = write()
    socket.send_fds(pairs[-1][0], [b'x'], [fd])
    os.close(fd)`),
	removedFiles("open in a thread's own table", "while True: leave(write())"),
	removedFiles("open after the end of the first thread", `
def on():
    while True: write()
threading.Thread(target=on).start()
libc.syscall(60 if os.uname().machine == 'x86_64' else 93, 0)`),
	removedFiles("open in a process closed to others", `
libc.prctl(4, 0, 0, 0, 0)
while True: write()`),
	removedFiles("in a daemon", `
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    while True: write()
time.sleep(300)`),
	removedFiles("at the end of a deep tree", `
for i in range(100):
    os.mkdir('d')
    os.chdir('d')
while True: write()`),
}

const (
	diskLimit = 32 << 20
	// overshoot is how much more than the limit a command may write before it is ended. That is
	// a sixteenth of the limit and the writes of some 50 milliseconds, or 128 MiB of hidden
	// files. The rest is for busy machines.
	overshoot = 1 << 30
)

// fills runs a script that writes up to 1 GB. It checks that the executor ends the script, and that
// only the workspace has changed.
func fills(t *testing.T, b bench, limit int64, script string) {
	t.Helper()
	host := t.TempDir()
	write(t, host, "canary", 0o644, "sings\n")
	cmd := b.sh(script + "; sleep 300")
	cmd.Limits.Disk = limit
	equal(t, "reason", b.run(cmd).Reason, executor.ReasonDisk)
	if got := written(t, b.dir); got > limit+overshoot {
		t.Errorf("%d bytes were written, with %d allowed", got, limit)
	}
	if text, err := os.ReadFile(filepath.Join(host, "canary")); err != nil || string(text) != "sings\n" {
		t.Errorf("a file of the host: %q, %v", text, err)
	}
}

func manyFiles(t *testing.T, b bench) {
	fills(t, b, diskLimit, "i=0; while [ $i -lt 250 ]; do dd if=/dev/zero of=f$i bs=1048576 count=4 2>/dev/null; sleep 0.01; i=$((i+1)); done")
	if got := written(t, b.dir); got < diskLimit {
		t.Errorf("ended with %d bytes, and %d are allowed", got, diskLimit)
	}
}

func manySmallFiles(t *testing.T, b bench) {
	fills(t, b, 4<<20, `dd if=/dev/zero of=x bs=4096 count=8 2>/dev/null
i=0; while [ $i -lt 2000 ]; do mkdir -p d/$i; (cd d/$i; split -b 128 -a 3 ../../x); i=$((i+1)); done`)
}

// removedFile writes to a file that was removed.
func removedFile(t *testing.T, b bench) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells of files that are open")
	}
	fills(t, b, diskLimit, "exec 3>gone; rm gone; dd if=/dev/zero bs=1048576 count=200 >&3 2>/dev/null")
}

// removing defines the Python function write, which makes a removed file of 16 MiB, and 2 GiB in
// all. It writes into a file how many MiB it has written. That is 0 at first, because a process that
// is closed to others may be charged for what others write to the same disk. It writes more and
// more slowly, so that even an executor on a busy machine has half a minute to notice.
const removing = `
import ctypes, os, socket, threading, time
life = os.open("life", os.O_RDWR) # held by every process
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
block, total, told = b'x' * (1 << 20), 0, os.open('written', os.O_RDWR | os.O_CREAT, 0o600)
os.pwrite(told, b'0', 0)
def write():
    global total
    while total >= 2048: time.sleep(1)
    fd = os.open('gone', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink('gone')
    for i in range(16): os.write(fd, block)
    time.sleep(0.05 if total < 512 else 1)
    total += 16
    os.pwrite(told, str(total).encode(), 0)
    return fd
def page(fd):
    # mmap.mmap keeps a copy of the descriptor
    if libc.mmap(None, 4096, 1, 1, fd, 0) in (None, 2**64 - 1): os._exit(1)
    os.close(fd)
stacks = []
def leave(fd):
    # VM, FS, SIGHAND and THREAD, without FILES: it sleeps with a copy of the table
    stacks.append(ctypes.create_string_buffer(1 << 16))
    top = (ctypes.addressof(stacks[-1]) + (1 << 16)) & ~63
    if libc.clone(libc.sleep, ctypes.c_void_p(top), 0x10b00, ctypes.c_void_p(100)) < 0: os._exit(1)
    os.close(fd)
`

// removedFiles returns a test that removed files count towards the disk limit while a program holds
// them. how says in which way, and program is the Python code that does it.
func removedFiles(how, program string) conformance {
	return conformance{"workspace filled by removed files, " + how, func(t *testing.T, b bench) {
		if runtime.GOOS != "linux" {
			t.Skip("only Linux tells of files that are open")
		}
		cmd := b.command("python3", "-c", removing+program)
		cmd.Limits.Disk = 2 * diskLimit
		result := b.run(cmd)
		text, err := os.ReadFile(filepath.Join(b.dir, "written"))
		if err != nil {
			t.Fatal(err, result.Stderr)
		}
		mib, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if result.Reason != executor.ReasonDisk || mib<<20 > cmd.Limits.Disk+overshoot {
			t.Errorf("ended with reason %q after %d MiB, with %d bytes allowed: %s", result.Reason, mib, cmd.Limits.Disk, result.Stderr)
		}
		t.Logf("ended after %d MiB", mib)
		if b.exec.Capabilities().KillTree.Enforced && !released(t, filepath.Join(b.dir, "life")) {
			t.Error("a process of the command still runs")
		}
	}}
}

// sparseFile makes a huge sparse file, which takes no space, and runs until the check has looked at it.
func sparseFile(t *testing.T, b bench) {
	cmd := b.sh("dd if=/dev/null of=sparse bs=1048576 seek=200 2>/dev/null; dd if=/dev/zero of=dense bs=1048576 count=8 2>/dev/null; sleep 1.5")
	cmd.Limits.Disk = diskLimit
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
}

// othersWrite runs a command with files that the host cannot see, or cannot count soon. Meanwhile
// this process writes more to the same disk than the command may.
func othersWrite(t *testing.T, b bench) {
	const beside = 160 << 20
	cmd := b.sh(`dd if=/dev/zero of=some bs=1048576 count=4 2>/dev/null
mkdir closed && echo x > closed/file && chmod 0 closed
i=0; while [ $i -lt 200 ]; do mkdir d && cd d; i=$((i+1)); done
cd "$OLDPWD"; echo > "$1/up"; until [ -e "$1/stop" ]; do sleep 0.01; done; chmod 700 "$1/closed"`)
	cmd.Args = append(cmd.Args, "sh", b.home())
	cmd.Limits.Disk = 8 << 20
	go func() {
		defer func() { _ = os.WriteFile(filepath.Join(b.dir, "stop"), nil, 0o600) }()
		if !b.grows("up", 0) {
			return
		}
		file, err := os.Create(filepath.Join(b.beside, "big"))
		if err != nil {
			return
		}
		defer func() { _ = file.Close() }()
		block := make([]byte, 1<<20)
		for range 2 { // it is looked at meanwhile
			for at := int64(0); at < beside; at += int64(len(block)) {
				if _, err := file.WriteAt(block, at); err != nil {
					return
				}
			}
		}
	}()
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
}

// filesBefore starts a command in a workspace that exceeds the limit. The command has time to remove
// files.
func filesBefore(t *testing.T, b bench) {
	cmd := b.sh("dd if=/dev/zero of=old bs=1048576 count=40 2>/dev/null")
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
	cmd = b.sh("rm -f old; sleep 1.5")
	cmd.Limits.Disk = diskLimit
	result := b.run(cmd)
	for try := 1; result.Reason == executor.ReasonDisk && try < tries; try++ { // no time, on a busy machine
		fill := b.sh("dd if=/dev/zero of=old bs=1048576 count=40 2>/dev/null")
		wantEnd(t, b.run(fill), executor.ReasonExit, 0)
		result = b.run(cmd)
	}
	wantEnd(t, result, executor.ReasonExit, 0)
	cmd = b.sh("dd if=/dev/zero of=old bs=1048576 count=40 2>/dev/null")
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
	cmd = b.sh("sleep 300")
	cmd.Limits.Disk = diskLimit
	equal(t, "reason", b.run(cmd).Reason, executor.ReasonDisk)
}

// written adds up the sizes of the files that a command has left.
func written(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// home returns the path of the workspace as commands see it.
func (b bench) home() string {
	if at := b.exec.Capabilities().WorkspaceAt; at != "" {
		return at
	}
	return b.dir
}
