//go:build amd64 || arm64

package executortest

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine makes the canaries that are no files: System V shared memory, a message queue, a terminal,
// and a program that starts again and again. It also adds facts about the machine.
func (g *target) machine(t *testing.T) {
	t.Helper()
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	memory, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	copy(memory, song)
	if err := unix.SysvShmDetach(memory); err != nil {
		t.Fatal(err)
	}
	g.facts["shm"], g.facts["queue"] = id, queue(t, g.token)

	g.facts["terminal"] = openTerminal(t)
	g.facts["hostname"], _ = os.Hostname()
	g.facts["cgroup"] = ""
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 && parts[2] != "/" {
			g.facts["cgroup"] = parts[2]
		}
	}
	g.startPrograms(t)
}

// openTerminal opens a terminal and returns its path.
func openTerminal(t *testing.T) string {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return "/dev/pts/" + strconv.Itoa(n)
}

// queue makes a POSIX message queue and returns its name. The queue is small, because a limit holds
// for all queues of a user together.
func queue(t *testing.T, name string) string {
	t.Helper()
	at, err := unix.BytePtrFromString(name)
	if err != nil {
		t.Fatal(err)
	}
	size := struct{ flags, messages, bytes, now, _, _, _, _ int }{messages: 1, bytes: 64}
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(at)), unix.O_CREAT|unix.O_RDONLY|unix.O_CLOEXEC, 0o600, uintptr(unsafe.Pointer(&size)), 0, 0)
	if e != 0 {
		t.Fatalf("make message queue: %v", e)
	}
	t.Cleanup(func() {
		_ = unix.Close(int(fd))
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(at)), 0, 0)
	})
	return name
}

// startPrograms starts a program again and again, until the test ends.
func (g *target) startPrograms(t *testing.T) {
	t.Helper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				_ = exec.Command("/usr/bin/true").Run()
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
}
