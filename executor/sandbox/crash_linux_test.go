//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// crashAt is set for a second copy of this program, which acts as the host that
// crashes. Its value is the directory to use.
const crashAt = "SATCHEL_TEST_CRASH"

// TestHostIsKilled kills a host that has a running command, an interactive one and two prepared
// sandboxes. None of their processes may be left.
func TestHostIsKilled(t *testing.T) {
	if dir := os.Getenv(crashAt); dir != "" {
		crash(t, dir)
		return
	}
	dir, temp := t.TempDir(), t.TempDir()
	host := exec.Command("/proc/self/exe", "-test.run", "^TestHostIsKilled$")
	host.Env = append(os.Environ(), crashAt+"="+dir, "TMPDIR="+temp)
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(said.Name())
			t.Logf("the host said %s", text)
		}
	})
	host.Stdout, host.Stderr = said, said
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer host.Wait()
	defer host.Process.Kill()
	for _, name := range []string{"run/beat", "start/beat"} {
		await(t, "a command begins", func() bool { return size(filepath.Join(dir, name)) > 3 })
	}
	var family map[int]string
	await(t, "2 first processes that wait, and 2 that work", func() bool {
		firsts := 0
		family = descendantsOf(t, host.Process.Pid)
		for pid := range family {
			command, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			if strings.HasPrefix(string(command), "satchel-sandbox") {
				firsts++
			}
		}
		return firsts == 4
	})
	mounts := mountsNow(t, temp, dir)
	if len(family) < 6 {
		t.Fatalf("the host has %d processes, want 4 first processes, 2 commands", len(family))
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	waitEnded(t, family)
	for _, name := range []string{"run/beat", "start/beat"} {
		await(t, "nobody writes to "+name, func() bool { return !holds(t, filepath.Join(dir, filepath.Dir(name), "life")) })
	}
	if now := mountsNow(t, temp, dir); now != mounts {
		t.Errorf("mounts were\n%s\nand are\n%s", mounts, now)
	}
	checkLeftovers(t, temp)
	newSandbox(t) // a new sandbox removes what a crash left in the kernel
	if groups := groupsOf(host.Process.Pid); len(groups) > 0 {
		t.Errorf("groups are left: %q", groups)
	}
}

// holds reports whether a process has a named pipe open for writing.
func holds(t *testing.T, path string) bool {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	_, err = unix.Read(fd, make([]byte, 1))
	return errors.Is(err, unix.EAGAIN)
}

// crash is the host.
func crash(t *testing.T, dir string) {
	s := newSandbox(t, sandbox.WithPrepared(2), sandbox.WithLeast(executor.IsolationNamespaces))
	beat := func(name string) executor.Command {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(filepath.Join(at, "life"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := script(at, "exec 3<>life; trap '' HUP TERM; setsid sh -c 'while :; do echo x >> beat; sleep 0.02; done' & wait")
		cmd.Limits.Timeout = 5 * time.Minute
		return cmd
	}
	if _, err := s.Start(t.Context(), beat("start"), executor.Terminal{}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Run(t.Context(), beat("run"))
	t.Fatalf("the command ended, and the host lives: %v", err)
}

// atOnce is the number of commands for which this process has descriptors.
func atOnce(t *testing.T) int {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return int(min(limit.Cur, 1<<16)-100) / 20
}

// TestManyAtOnce runs 200 commands at once, of which half are cancelled.
func TestManyAtOnce(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir := t.TempDir()
	once := newSandbox(t)
	sandboxed(t, once, script(dir, "exit 0")) // the first command opens files that stay open
	if err := once.Close(); err != nil {
		t.Fatal(err)
	}
	before, mounts := resources(t), mountsNow(t, temp, dir)
	s := newSandbox(t, sandbox.WithPrepared(4))
	ended, places := make(chan error), make(chan struct{}, atOnce(t))
	for i := range 200 {
		go func() {
			places <- struct{}{}
			defer func() { <-places }()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cmd, want := script(dir, "exit "+strconv.Itoa(i/2)), executor.ReasonExit
			if i%2 == 0 {
				cmd, want = script(dir, "trap '' TERM; sleep 300 & setsid sleep 300 & wait; sleep 300"), executor.ReasonCancelled
				time.AfterFunc(time.Duration(i*5)*time.Millisecond, cancel)
			}
			cmd.Limits.Timeout = 5 * time.Minute
			result, err := s.Run(ctx, cmd)
			switch {
			case err == nil && result.Reason != want:
				err = errors.New("reason " + string(result.Reason))
			case err == nil && want == executor.ReasonExit && result.ExitCode != i/2:
				err = errors.New("code " + strconv.Itoa(result.ExitCode))
			}
			ended <- err
		}()
	}
	for range 200 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	sameAs(t, before)
	if now := mountsNow(t, temp, dir); now != mounts {
		t.Errorf("mounts were\n%s\nand are\n%s", mounts, now)
	}
	if groups := groupsOf(os.Getpid()); len(groups) > 0 {
		t.Errorf("groups are left: %q", groups)
	}
	checkLeftovers(t, temp)
}

// TestCancelledAtOnce ends the context while the sandbox is built, while the command starts, and just
// after that. The result must be the same in each case.
func TestCancelledAtOnce(t *testing.T) {
	s, dir := newSandbox(t), t.TempDir()
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*200*time.Microsecond, cancel)
		result, err := s.Run(ctx, script(dir, "sleep 300"))
		if err != nil || result.Reason != executor.ReasonCancelled {
			t.Errorf("cancelled after %d steps: reason %q, code %d, %v", i, result.Reason, result.ExitCode, err)
		}
	}
}

// TestNoDescriptorsLeft runs a command when the host can open no more files: the
// command is refused, and nothing is left behind.
func TestNoDescriptorsLeft(t *testing.T) {
	s, dir := newSandbox(t), t.TempDir()
	sandboxed(t, s, script(dir, "exit 0"))
	before := resources(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for more := range uint64(12) {
		tight := old
		tight.Cur = uint64(before.files) + more
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &tight); err != nil {
			t.Fatal(err)
		}
		result, err := s.Run(t.Context(), script(dir, "exit 4"))
		if restore := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); restore != nil {
			t.Fatal(restore)
		}
		if errors.Is(err, executor.ErrSetup) && result.Reason == executor.ReasonSetup {
			refused++
			if strings.Contains(err.Error(), "fork/exec") {
				before.files += 2 // os.StartProcess leaks a pipe when the clone fails
			}
		} else if err != nil || result.ExitCode != 4 {
			t.Errorf("%d more files: %+v, %v", more, result, err)
		}
	}
	if refused == 0 {
		t.Error("no command was refused: the test shows nothing")
	}
	sameAs(t, before)
	if got := sandboxed(t, s, script(dir, "exit 4")).ExitCode; got != 4 {
		t.Errorf("afterwards: code %d", got)
	}
}
