//go:build unix

package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/executortest"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/remote"
)

// asRunner is set for a second copy of this program, which is a runner with this executor.
const asRunner = "SATCHEL_TEST_RUNNER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(asRunner); kind != "" {
		os.Exit(runner(kind))
	}
	executortest.Main(m)
}

// runner serves on standard input and output.
func runner(kind string) int {
	err := remote.Serve(context.Background(), stdio{}, func() (executor.Executor, error) { return openKind(kind) })
	if err != nil {
		println(err.Error())
		return 1
	}
	return 0
}

// openKind opens an executor by its name.
func openKind(kind string) (executor.Executor, error) {
	switch kind {
	case "local":
		return local.New()
	case "broken":
		return nil, errors.New("nothing works here")
	}
	return openSandbox(kind)
}

// stdio is standard input and output as one connection.
type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return errors.Join(os.Stdin.Close(), os.Stdout.Close()) }

// piped is a carrier whose runners are goroutines of this process.
type piped struct {
	caps executor.Capabilities
	open func() (executor.Executor, error)

	mu     sync.Mutex
	opened int
	served sync.WaitGroup
}

func (p *piped) Capabilities() executor.Capabilities { return p.caps }

func (p *piped) Open(context.Context, remote.Job) (io.ReadWriteCloser, error) {
	host, runner := net.Pipe()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	p.served.Go(func() { _ = remote.Serve(context.Background(), runner, p.open) })
	return host, nil
}

// count returns how many runners were opened.
func (p *piped) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened
}

// child is a carrier whose runners are child processes.
type child struct {
	caps executor.Capabilities
	kind string

	mu   sync.Mutex
	pids []int
}

func (c *child) Capabilities() executor.Capabilities { return c.caps }

func (c *child) Open(context.Context, remote.Job) (io.ReadWriteCloser, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = []string{asRunner + "=" + c.kind, "PATH=/usr/bin:/bin", "TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0"}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pids = append(c.pids, cmd.Process.Pid)
	return &childConn{Reader: out, in: in, cmd: cmd}, nil
}

// last returns the number of the last runner's process.
func (c *child) last() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pids[len(c.pids)-1]
}

type childConn struct {
	io.Reader
	in   io.WriteCloser
	cmd  *exec.Cmd
	once sync.Once
}

func (c *childConn) Write(p []byte) (int, error) { return c.in.Write(p) }

// Close lets the runner end by itself first, so that it kills its commands.
func (c *childConn) Close() error {
	c.once.Do(func() {
		_ = c.in.Close()
		timer := time.AfterFunc(20*time.Second, func() { _ = c.cmd.Process.Kill() })
		defer timer.Stop()
		_ = c.cmd.Wait()
	})
	return nil
}

func newExecutor(t testing.TB, c remote.Carrier, opts ...remote.Option) *remote.Executor {
	t.Helper()
	e, err := remote.New(c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// capabilitiesOf returns what an executor of a kind claims.
func capabilitiesOf(t testing.TB, kind string) executor.Capabilities {
	t.Helper()
	e, err := openKind(kind)
	if err != nil {
		t.Fatal(err)
	}
	if closer, ok := e.(io.Closer); ok {
		defer func() { _ = closer.Close() }()
	}
	return e.Capabilities()
}

func newPiped(t testing.TB, kind string) *piped {
	t.Helper()
	return &piped{caps: capabilitiesOf(t, kind), open: func() (executor.Executor, error) { return openKind(kind) }}
}

func newChild(t testing.TB, kind string) *child {
	t.Helper()
	return &child{caps: capabilitiesOf(t, kind), kind: kind}
}

// cutting is a carrier of which the test closes the last connection.
type cutting struct {
	remote.Carrier
	mu   sync.Mutex
	conn io.Closer
}

func (c *cutting) Open(ctx context.Context, j remote.Job) (io.ReadWriteCloser, error) {
	conn, err := c.Carrier.Open(ctx, j)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	return conn, err
}

// cut closes the last connection, as the end of the host does.
func (c *cutting) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.Close()
}
