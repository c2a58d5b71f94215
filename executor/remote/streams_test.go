//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/remote"
)

// stuck is an output that takes nothing before it is let go.
type stuck struct {
	reached, letGo chan struct{}
	text           bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	select {
	case <-s.reached:
	default:
		close(s.reached)
	}
	<-s.letGo
	return s.text.Write(p)
}

// TestASlowReaderHoldsUpNoOther runs a command whose output, and another whose pipe, is not taken. A third
// one must work meanwhile, and the first must lose nothing.
func TestASlowReaderHoldsUpNoOther(t *testing.T) {
	e := newExecutor(t, newChild(t, "local"))
	dir := t.TempDir()
	const size = 4 << 20
	slow := &stuck{reached: make(chan struct{}), letGo: make(chan struct{})}
	p, err := e.Start(t.Context(), script(dir, "head -c 4194304 /dev/zero"), executor.Terminal{Output: slow})
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	piped := script(dir, "head -c 4194304 /dev/zero >&3; exit 5")
	piped.Pipes = []*os.File{write}
	second, err := e.Start(t.Context(), piped, executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	<-slow.reached
	for range 3 {
		big := script(dir, "wc -c")
		big.Stdin = io.LimitReader(zeros{}, size)
		if result, err := e.Run(t.Context(), big); err != nil || strings.TrimSpace(result.Stdout.String()) != "4194304" {
			t.Errorf("%+v, %v", result, err)
		}
	}
	select {
	case <-p.Done():
		t.Error("the command whose output waits has ended")
	case <-second.Done():
		t.Error("the command whose pipe waits has ended")
	default:
	}
	close(slow.letGo)
	if result, err := p.Wait(t.Context()); err != nil || result.Reason != executor.ReasonExit || slow.text.Len() != size {
		t.Errorf("%s, %v, %d bytes", result.Reason, err, slow.text.Len())
	}
	if n, err := io.Copy(io.Discard, read); n != size || err != nil {
		t.Errorf("%d bytes by the pipe, %v", n, err)
	}
	if result, err := second.Wait(t.Context()); err != nil || result.ExitCode != 5 {
		t.Errorf("%+v, %v", result, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestTheReaderOfAPipeGoes closes the host's end of a pipe that a program writes to, and that of one it reads.
func TestTheReaderOfAPipeGoes(t *testing.T) {
	e := newExecutor(t, newChild(t, "local"))
	dir := t.TempDir()
	fromRead, fromWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	toRead, toWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer toWrite.Close()
	cmd := script(dir, "exec 4<&-; trap '' PIPE; while echo x >&3; do :; done 2>/dev/null; exit 6")
	cmd.Pipes = []*os.File{fromWrite, toRead}
	p, err := e.Start(t.Context(), cmd, executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fromWrite.Close(), toRead.Close()
	if _, err := fromRead.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	_ = fromRead.Close() // its writes fail now
	if result, err := p.Wait(t.Context()); err != nil || result.ExitCode != 6 {
		t.Errorf("%+v, %v", result, err)
	}
	_ = toWrite.SetWriteDeadline(time.Now().Add(patience))
	if n, err := io.Copy(toWrite, io.LimitReader(zeros{}, 4<<20)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a pipe that nobody reads took %d bytes: %v", n, err)
	}
}

// TestAPipeIsReadLater reads what a command wrote to a pipe after its runner could have become idle.
func TestAPipeIsReadLater(t *testing.T) {
	c := newChild(t, "local")
	e := newExecutor(t, c, remote.WithIdle(time.Millisecond))
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	const size = 370_000 // more than a pipe and a window hold
	cmd := script(t.TempDir(), "head -c 370000 /dev/zero >&3")
	cmd.Pipes = []*os.File{write}
	if result, err := e.Run(t.Context(), cmd); err != nil || result.ExitCode != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	_ = write.Close()
	if _, err := e.Run(t.Context(), script(t.TempDir(), "sleep 0.1")); err != nil { // another runner, and time to be idle
		t.Error(err)
	}
	if n, err := io.Copy(io.Discard, read); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestAPipeForBoth refuses an end that is open for reading and writing.
func TestAPipeForBoth(t *testing.T) {
	e := newExecutor(t, newPiped(t, "local"))
	dir := t.TempDir()
	_ = holder(t, dir)
	both, err := os.OpenFile(filepath.Join(dir, "life"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	cmd := script(dir, "true")
	cmd.Pipes = []*os.File{both}
	if _, err := e.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) {
		t.Errorf("%v", err)
	}
}

// TestConnections exchanges bytes over a port: a half close in each direction, more than a window, deadlines.
func TestConnections(t *testing.T) {
	caps := capabilitiesOf(t, kinds[len(kinds)-1])
	if !caps.Loopback.Enforced {
		if caps.Loopback.Note == "" {
			t.Error("no note says why there are no ports")
		}
		return
	}
	e := newExecutor(t, newChild(t, kinds[len(kinds)-1]))
	served := make(chan error, 1)
	cmd := script(t.TempDir(), "")
	cmd.Args = []string{"python3", "-S", "-c", `import socket
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(b"q" * 1000000)
s.shutdown(socket.SHUT_WR)
got = b""
while True:
    part = s.recv(65536)
    if not part: break
    got += part
print(len(got), set(got) == {ord("a")})`}
	cmd.Listen = map[uint16]func(net.Listener){3128: func(l net.Listener) { served <- answer(l) }}
	result, err := e.Run(t.Context(), cmd)
	if err != nil || result.Stdout.String() != "2000000 True\n" {
		t.Errorf("%s, %v, %s", result.Stdout, err, result.Stderr)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// answer serves one connection.
func answer(l net.Listener) error {
	c, err := l.Accept()
	if err != nil {
		return err
	}
	if c.LocalAddr().String() != "127.0.0.1:3128" || c.LocalAddr().String() != l.Addr().String() || !strings.HasPrefix(c.RemoteAddr().String(), "127.0.0.1:") {
		return errors.New("addresses " + c.LocalAddr().String() + " and " + c.RemoteAddr().String())
	}
	if got, err := io.ReadAll(c); err != nil || len(got) != 1_000_000 {
		return errors.Join(err, errors.New("it did not get a million bytes"))
	}
	if _, err := c.Write(bytes.Repeat([]byte("a"), 2_000_000)); err != nil {
		return err
	}
	_ = c.SetDeadline(time.Now().Add(-time.Second))
	var timeout net.Error
	if _, err := c.Write([]byte("b")); !errors.As(err, &timeout) || !timeout.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.Join(err, errors.New("a deadline that has passed has no effect"))
	}
	_ = c.SetDeadline(time.Time{})
	if err := c.Close(); err != nil {
		return err
	}
	if _, err := c.Write([]byte("b")); !errors.Is(err, net.ErrClosed) {
		return errors.Join(err, errors.New("a closed connection takes bytes"))
	}
	return nil
}

func TestFind(t *testing.T) {
	c := newPiped(t, "local")
	e := newExecutor(t, c)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := e.Find(t.Context(), "mine", "/usr/bin:"+dir)
		if err != nil || got != filepath.Join(dir, "mine") {
			t.Errorf("%q, %v", got, err)
		}
	}
	for _, name := range []string{"no-such-program", "", "a/b"} {
		if got, err := e.Find(t.Context(), name, "/usr/bin:"+dir); !errors.Is(err, fs.ErrNotExist) || got != "" {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	if _, err := e.Run(t.Context(), script(dir, "true")); err != nil {
		t.Error(err)
	}
	if _, err := e.Find(t.Context(), "mine", dir); err != nil || c.count() != 2 {
		t.Errorf("%v, %d runners, want that of the workspace and one without", err, c.count())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Find(ctx, "mine", dir); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestWorkspaceElsewhere runs a command whose workspace the runner finds at another path.
func TestWorkspaceElsewhere(t *testing.T) {
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "workspace"), 0o755); err != nil {
		t.Fatal(err)
	}
	at, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	at = filepath.Join(at, "workspace")
	if err := os.Symlink("workspace", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, newPiped(t, "local"), remote.WithWorkspaceAt(at))
	if got := e.Capabilities().WorkspaceAt; got != at {
		t.Errorf("commands find it at %q", got)
	}
	result, err := e.Run(t.Context(), script(filepath.Join(base, "link"), "pwd -P"))
	if err != nil || result.Stdout.String() != at+"\n" {
		t.Errorf("%q, %v", result.Stdout, err)
	}
	if got := e.Capabilities().WorkspaceAt; got != at {
		t.Errorf("then commands find it at %q", got)
	}
}

// TestSharedSkillsElsewhere names skills that this machine has and the runner sees otherwise.
func TestSharedSkillsElsewhere(t *testing.T) {
	e := newExecutor(t, newPiped(t, "local"))
	cmd := script(t.TempDir(), "echo ran")
	for _, skills := range []string{"/no/such/skills", "/etc/passwd"} {
		cmd.Skills = skills
		if result, err := e.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) || result.Reason != executor.ReasonSetup {
			t.Errorf("%s: %s, %v", skills, result.Reason, err)
		}
	}
}
