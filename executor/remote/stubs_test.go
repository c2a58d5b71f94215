package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// stub is an executor whose commands are functions.
type stub struct {
	run  func(ctx context.Context, cmd executor.Command) (executor.Result, error)
	caps executor.Capabilities
}

func (s stub) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	return s.run(ctx, cmd)
}

func (s stub) Start(context.Context, executor.Command, executor.Terminal) (executor.Process, error) {
	return nil, errors.ErrUnsupported
}

func (s stub) Capabilities() executor.Capabilities { return s.caps }

// exits is a command that ends at once.
func exits(context.Context, executor.Command) (executor.Result, error) {
	return executor.Result{Reason: executor.ReasonExit}, nil
}

// waits is a command that ends when it is cancelled.
func waits(ctx context.Context, _ executor.Command) (executor.Result, error) {
	<-ctx.Done()
	return executor.Result{ExitCode: -1, Reason: executor.ReasonCancelled}, nil
}

// carrier carries to runners in this process.
type carrier struct {
	stub stub
	// wire, if not nil, serves the runner's side in place of Serve.
	wire func(io.ReadWriteCloser)
	err  error

	mu     sync.Mutex
	jobs   []Job
	served sync.WaitGroup
}

func (c *carrier) Capabilities() executor.Capabilities { return c.stub.caps }

func (c *carrier) Open(_ context.Context, j Job) (io.ReadWriteCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = append(c.jobs, j)
	if c.err != nil {
		return nil, c.err
	}
	host, runner := net.Pipe()
	wire := c.wire
	if wire == nil {
		wire = func(rw io.ReadWriteCloser) {
			_ = Serve(context.Background(), rw, func() (executor.Executor, error) { return c.stub, nil })
		}
	}
	c.served.Go(func() { wire(runner) })
	return host, nil
}

// opened returns how many runners were opened.
func (c *carrier) opened() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.jobs)
}

func newTestExecutor(t testing.TB, c Carrier, opts ...Option) *Executor {
	t.Helper()
	e, err := New(c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// commandIn returns a command in a workspace.
func commandIn(dir string) executor.Command {
	return executor.Command{Args: []string{"true"}, Workspace: dir}
}

// quiet is a connection that brings nothing and takes everything.
type quiet struct{ io.Writer }

func (quiet) Read([]byte) (int, error) { return 0, io.EOF }
func (quiet) Close() error             { return nil }

// newTestServer returns a runner's side after its hello, without goroutines of its connection.
func newTestServer(t *testing.T) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &server{ctx: ctx, opened: make(chan struct{}), executor: stub{run: exits}, answered: true, greeted: true, tasks: map[uint32]*task{}}
	close(s.opened)
	s.conn = newConn(quiet{io.Discard}, s.take)
	s.conn.handle = s.take
	t.Cleanup(func() {
		cancel()
		s.conn.fail(nil)
		s.running.Wait()
	})
	return s
}

// newTestCommand returns a command that runs on a runner without goroutines of its connection.
func newTestCommand(t *testing.T) *command {
	t.Helper()
	r := &runner{executor: newTestExecutor(t, &carrier{}), commands: map[uint32]*command{}, searches: map[uint32]chan foundMessage{}, sending: make(chan struct{}, 1), hello: make(chan helloAnswer, 1)}
	r.conn = newConn(quiet{io.Discard}, r.take)
	cmd := commandIn(t.TempDir())
	cmd.Listen = map[uint16]func(net.Listener){3128: func(l net.Listener) { _, _ = l.Accept() }}
	c, err := r.begin(cmd, &executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.conn.fail(nil)
		<-c.done
	})
	return c
}
