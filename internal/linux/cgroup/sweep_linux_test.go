package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The test binary runs itself as a host that has a group, and as a child that
// joins a group by itself.
const (
	roleVar  = "SATCHEL_CGROUP_TEST_ROLE"
	filesVar = "SATCHEL_CGROUP_TEST_FILES"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "host":
		err = hostForever()
	case "joining":
		err = joinAndEat()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hostForever makes a group, starts a process in it that outlives its parent,
// prints the group's name and waits to be killed.
func hostForever() error {
	tr, err := Open(os.Getenv(dirVar))
	if err != nil {
		return err
	}
	g, err := tr.New(Limits{Memory: 64 << 20, Processes: 16})
	if err != nil {
		return err
	}
	child := exec.Command("sh", "-c", "read go; setsid sleep 100 & echo up; wait")
	in, err := child.StdinPipe()
	if err != nil {
		return err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	if err := move(g, child.Process.Pid); err != nil {
		return err
	}
	_ = in.Close()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return err
	}
	fmt.Println(filepath.Base(g.parts[0].dir))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestSweep(t *testing.T) {
	tr := tree(t)
	host := exec.Command(os.Args[0])
	host.Env = append(os.Environ(), roleVar+"=host")
	host.Stderr = os.Stderr
	in, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	name, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	owner, ok := ownerOf(strings.TrimSpace(name))
	if !ok || owner.pid != host.Process.Pid {
		t.Fatalf("group %q of process %d", name, host.Process.Pid)
	}
	left := &Group{}
	for _, h := range tr.hierarchies {
		left.parts = append(left.parts, part{h, filepath.Join(h.dir, strings.TrimSpace(name))})
	}
	count := func() (n int) {
		for _, h := range tr.hierarchies {
			n += len(groupsOf(t, h, owner))
		}
		return n
	}

	mine := group(t, tr, Limits{Processes: 5})
	if err := tr.Sweep(); err != nil || count() != len(tr.hierarchies) {
		t.Errorf("after sweeping while the host lives there are %d groups, error %v", count(), err)
	}
	processes := processesOf(left)
	if len(processes) != 2 {
		t.Errorf("the group has processes %v", processes)
	}
	_ = host.Process.Kill()
	waitUntil(t, "the end of the host", owner.hasEnded) // the host stays as a zombie
	if err := tr.Sweep(); err != nil || count() != 0 {
		t.Errorf("after sweeping there are %d groups, error %v", count(), err)
	}
	_ = host.Wait()
	for _, pid := range processes {
		if _, ended, err := startOf(pid); err == nil && !ended {
			t.Errorf("process %d lives", pid)
		}
	}
	if _, err := os.Stat(mine.parts[0].dir); err != nil {
		t.Errorf("the own group was swept: %v", err)
	}
	if err := tr.Sweep(); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestSweepLeaves uses plain directories. Sweep must not touch those that may be in use.
func TestSweepLeaves(t *testing.T) {
	self, err := thisProcess()
	if err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	pid := dead.Process.Pid
	names := map[string]bool{ // true: the group stays
		self.groupName(): true,
		process{self.pid, self.start + 1, self.namespace}.groupName():          false, // another process uses the number again
		process{pid, self.start, self.namespace}.groupName():                   false,
		process{pid, self.start, self.namespace + 1}.groupName():               true,
		fmt.Sprintf("satchel-%d-0-%d-", pid, self.namespace):                   true,
		fmt.Sprintf("satchel-%d", pid):                                         true,
		fmt.Sprintf("satchel--%d-0-%d-0123456789abcdef", pid, self.namespace):  true,
		fmt.Sprintf("other-%d-0-%d-0123456789abcdef", pid, self.namespace):     true,
		fmt.Sprintf("satchel-%d-0-%d-0123456789abcdef-", pid, self.namespace):  true,
		fmt.Sprintf("satchel-%dx-0-%d-0123456789abcdef", pid, self.namespace):  true,
		"satchel-" + strconv.FormatUint(1<<63, 10) + "-0-0-0123456789abcdef":   true,
		fmt.Sprintf("satchel-%d-0-%d-0123456789abcdef-a", pid, self.namespace): true,
	}
	tr := &Tree{self: self}
	tr.add(hierarchy{dir: t.TempDir()}, pids)
	dir := tr.hierarchies[0].dir
	for name := range names {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := process{pid, 1, self.namespace}.groupName()
	if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	names[file] = true
	if err := tr.Sweep(); err != nil {
		t.Error(err)
	}
	for name, stays := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
	tr.add(hierarchy{dir: "/nonexistent"}, memory)
	if err := tr.Sweep(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("sweep what is not there: %v", err)
	}
}

// joinAndEat has one thread join the group whose files begin with number 3, and
// starts a program from it that needs much memory.
func joinAndEat() error {
	runtime.LockOSThread()
	files, err := strconv.Atoi(os.Getenv(filesVar))
	if err != nil {
		return err
	}
	for fd := 3; fd < 3+files; fd++ {
		if _, err := unix.Write(fd, []byte("0")); err != nil {
			return err
		}
	}
	child := exec.Command("sh", "-c", "head -c 209715200 /dev/zero | tail >/dev/null")
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	_ = child.Run()
	fmt.Print(child.ProcessState.ExitCode())
	return nil
}

func TestJoin(t *testing.T) {
	tr := tree(t)
	g := group(t, tr, Limits{Memory: 32 << 20, Processes: 32})
	files, err := g.Join()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env, child.ExtraFiles = append(os.Environ(), roleVar+"=joining", fmt.Sprint(filesVar, "=", len(files))), files
	child.Stderr = os.Stderr
	out, err := child.Output()
	for _, f := range files {
		f.Close()
	}
	if g.parts[0].unified { // in version 2 the kernel kills the whole group, including the child
		var killed *exec.ExitError
		if !errors.As(err, &killed) || len(out) > 0 {
			t.Errorf("the child's program ended with %s, %v", out, err)
		}
	} else if err != nil || string(out) != "137" {
		t.Errorf("the child's program ended with %s, %v", out, err)
	}
	if oom, err := g.OOM(); err != nil || !oom {
		t.Errorf("killed for memory: %v, %v", oom, err)
	}
}
