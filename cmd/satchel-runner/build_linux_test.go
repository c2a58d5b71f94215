//go:build amd64 || arm64

package main

import (
	"context"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/remote"
)

// mostBytes is the largest size of the program.
const mostBytes = 8_000_000

// build builds the program as it is released.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "satchel-runner")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// carrier starts the program.
type carrier struct {
	program string
	args    []string
	attr    *syscall.SysProcAttr
	last    *exec.Cmd
}

func (*carrier) Capabilities() executor.Capabilities { return executor.Capabilities{} }

func (c *carrier) Open(context.Context, remote.Job) (io.ReadWriteCloser, error) {
	cmd := exec.Command(c.program, c.args...)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = []string{}, os.Stderr, c.attr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.last = cmd
	return &conn{out, in, cmd}, cmd.Start()
}

type conn struct {
	io.Reader
	io.WriteCloser
	cmd *exec.Cmd
}

func (c *conn) Close() error { return errors.Join(c.WriteCloser.Close(), c.cmd.Wait()) }

func TestBuild(t *testing.T) {
	program := build(t)
	info, err := os.Stat(program)
	if err != nil || info.Size() > mostBytes {
		t.Errorf("%d bytes, want at most %d; %v", info.Size(), mostBytes, err)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("it is not static: it has a part of type %v", part.Type)
		}
	}
	for name, tt := range map[string]struct {
		args []string
		attr *syscall.SysProcAttr
		want executor.Isolation
	}{
		"sandbox":       {nil, nil, ""},
		"runtime":       {[]string{"--runtime-isolates"}, nil, executor.IsolationContainer},
		"first process": {[]string{"--runtime-isolates"}, firstProcess(), executor.IsolationContainer},
	} {
		t.Run(name, func(t *testing.T) {
			c := &carrier{program: program, args: tt.args, attr: tt.attr}
			e, err := remote.New(c)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			result, err := e.Run(t.Context(), executor.Command{
				Args: []string{"sh", "-c", "(setsid sleep 0.01 &) ; echo $PPID; exit 7"}, Env: []string{"PATH=/usr/bin:/bin"}, Workspace: dir,
			})
			if err != nil || result.ExitCode != 7 {
				t.Errorf("%+v, %v", result, err)
			}
			if tt.attr != nil && strings.TrimSpace(result.Stdout.String()) == "1" {
				t.Error("the first process runs commands, so it does not collect what others leave")
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if state := c.last.ProcessState; state == nil || !state.Success() {
				t.Errorf("the runner ended with %v", state)
			}
		})
	}
}

// firstProcess starts a program as the first of a namespace of processes, as in a container.
func firstProcess() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
}

// TestMemoryIsHidden starts the runner where no namespaces can be created, and where it makes no sandbox. Its
// memory and its files must be closed to its user, which commands run as.
func TestMemoryIsHidden(t *testing.T) {
	for name, args := range map[string][]string{"landlock": nil, "runtime": {"--runtime-isolates"}} {
		t.Run(name, func(t *testing.T) { checkHidden(t, args) })
	}
}

func checkHidden(t *testing.T, args []string) {
	t.Helper()
	program, dir, user := build(t), t.TempDir(), os.Getuid()
	if user == 0 {
		user = 100000
		if err := errors.Join(os.Chown(dir, user, user), os.Chmod(filepath.Dir(dir), 0o755)); err != nil { // program is there too
			t.Fatal(err)
		}
	}
	group := user
	if os.Getuid() != 0 {
		group = os.Getgid()
	}
	const inside, sysResource = 1000, 24
	c := &carrier{program: "/bin/sh", args: append([]string{"-c", `echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"`, program}, args...), attr: &syscall.SysProcAttr{
		Cloneflags:                 syscall.CLONE_NEWUSER,
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: inside, HostID: user, Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: inside, HostID: group, Size: 1}},
		GidMappingsEnableSetgroups: os.Getuid() == 0,
		Credential:                 &syscall.Credential{Uid: inside, Gid: inside, NoSetGroups: os.Getuid() != 0},
		AmbientCaps:                []uintptr{sysResource},
	}}
	e, err := remote.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	result, err := e.Run(t.Context(), executor.Command{Args: []string{"sh", "-c", "exit 7"}, Env: []string{"PATH=/usr/bin:/bin"}, Workspace: dir})
	if err != nil || result.ExitCode != 7 {
		t.Fatalf("%+v, %v", result, err)
	}
	info, err := os.Stat("/proc/" + strconv.Itoa(c.last.Process.Pid) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
		t.Errorf("user %d owns the runner's files in /proc, want 0", owner)
	}
}

// deaf is a connection that stops reading.
type deaf struct {
	*conn
	file    *os.File
	stopped chan struct{}
}

func (d deaf) Read(p []byte) (int, error) {
	select {
	case <-d.stopped:
		select {} // the engine has hung up, but its end of the pipe is open
	default:
		return d.file.Read(p)
	}
}

// pipeBytes is the size of a pipe that a frame of data fills.
const pipeBytes = 4096

// deafCarrier starts the program with a host that stops reading.
type deafCarrier struct {
	carrier
	opened deaf
}

func (c *deafCarrier) Open(ctx context.Context, j remote.Job) (io.ReadWriteCloser, error) {
	rw, err := c.carrier.Open(ctx, j)
	if err != nil {
		return nil, err
	}
	c.opened = deaf{rw.(*conn), rw.(*conn).Reader.(*os.File), make(chan struct{})}
	_, err = unix.FcntlInt(c.opened.file.Fd(), unix.F_SETPIPE_SZ, pipeBytes)
	return c.opened, err
}

// TestHostThatTakesNothing ends the runner while its output is full and stays open. The runner must not
// wait for the host.
func TestHostThatTakesNothing(t *testing.T) {
	c := &deafCarrier{carrier: carrier{program: build(t), args: []string{"--runtime-isolates"}}}
	e, err := remote.New(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := executor.Command{Args: []string{"sh", "-c", "yes"}, Env: []string{"PATH=/usr/bin:/bin"}, Workspace: t.TempDir()}
	if _, err := e.Start(t.Context(), cmd, executor.Terminal{}); err != nil {
		t.Fatal(err)
	}
	close(c.opened.stopped)
	for held := 0; held < pipeBytes; {
		if held, err = unix.IoctlGetInt(int(c.opened.file.Fd()), unix.TIOCINQ); err != nil || t.Context().Err() != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if err := c.last.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.last.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the runner waits for its host")
		_ = c.last.Process.Kill()
		<-ended
	}
}
