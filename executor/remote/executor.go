package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// Executor runs commands by runners that a Carrier starts. The commands of one workspace share a runner.
// A runner that has had no command for a while is ended.
//
// If a runner is lost, the result of its commands has executor.ReasonLost, and the error wraps
// executor.ErrLost. No command is started twice. The next command gets a new runner.
//
// It differs from other executors in a few points. The bytes of Command.Pipes that the program has not
// read when it ends are lost. The arguments and the environment together have at most 700 KiB. Shared
// skills must be visible to the runner at the same path.
type Executor struct {
	carrier     Carrier
	idle        time.Duration
	workspaceAt string
	marks       bool // of WithMarks

	mu       sync.Mutex
	closed   bool
	runners  map[string]*runner // by workspace
	alive    map[*runner]bool   // those whose connection is not closed yet
	freed    chan struct{}      // closed and replaced when a runner becomes idle or is gone
	lowered  bool
	caps     executor.Capabilities // of the carrier, lowered by the runners
	lastUsed *runner
}

var (
	_ executor.Executor = (*Executor)(nil)
	_ executor.Releaser = (*Executor)(nil)
	_ executor.Finder   = (*Executor)(nil)
	_ executor.Preparer = (*Executor)(nil)
)

// Option configures New.
type Option func(*Executor) error

// WithIdle sets how long a runner without commands is kept, up to an hour. The default is 30 seconds.
func WithIdle(d time.Duration) Option {
	return func(e *Executor) error {
		if d <= 0 || d > maxIdle {
			return fmt.Errorf("%w: idle time %v is not between 0 and %v", errOption, d, maxIdle)
		}
		e.idle = d
		return nil
	}
}

// WithWorkspaceAt sets the absolute path at which every runner finds its workspace, such as where a
// container has it mounted. By default it is the path of the workspace on this machine.
func WithWorkspaceAt(path string) Option {
	return func(e *Executor) error {
		if path == "" || path[0] != '/' {
			return fmt.Errorf("%w: path %q of workspaces is not absolute", errOption, path)
		}
		e.workspaceAt = path
		return nil
	}
}

// WithMarks compares a workspace with what its runner sees by an empty file, which is in the workspace while the
// runner starts. By default the device and the inode are compared, for which some systems below a runner
// have numbers of their own, such as gVisor. Shared skills cannot be compared then and are refused.
func WithMarks() Option {
	return func(e *Executor) error {
		e.marks = true
		return nil
	}
}

// errOption is wrapped by New if an option is invalid.
var errOption = errors.New("invalid option")

// New returns an executor that runs commands by the runners of a carrier. The error is that of an option.
// The caller closes the executor after the last command.
func New(c Carrier, opts ...Option) (*Executor, error) {
	e := &Executor{carrier: c, idle: defaultIdle, runners: map[string]*runner{}, alive: map[*runner]bool{}, freed: make(chan struct{})}
	for _, opt := range opts {
		if err := opt(e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Capabilities implements executor.Executor. Before the first runner they are those of the carrier, and
// afterwards they are lowered by what the runners say.
func (e *Executor) Capabilities() executor.Capabilities {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lowered {
		return e.caps
	}
	return e.inWorkspace(e.carrier.Capabilities())
}

// inWorkspace sets the path of the workspace that commands see if they see that of the runner.
func (e *Executor) inWorkspace(c executor.Capabilities) executor.Capabilities {
	if c.WorkspaceAt == "" {
		c.WorkspaceAt = e.workspaceAt
	}
	return c
}

// learn lowers the capabilities by what a runner says.
func (e *Executor) learn(said executor.Capabilities) {
	e.mu.Lock()
	defer e.mu.Unlock()
	bound := e.caps
	if !e.lowered {
		bound = e.carrier.Capabilities()
	}
	e.caps, e.lowered = lower(bound, e.inWorkspace(said)), true
}

// Run implements executor.Executor.
func (e *Executor) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	if err := check(cmd); err != nil {
		return neverRan(), err
	}
	if ctx.Err() != nil {
		return cancelled(), nil
	}
	c, err := e.begin(ctx, cmd, nil)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return cancelled(), nil
		}
		return neverRan(), err
	}
	defer context.AfterFunc(ctx, c.kill)()
	<-c.done
	return c.result, c.fault
}

// Start implements executor.Executor.
func (e *Executor) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	if cmd.Stdin != nil {
		return nil, fmt.Errorf("%w: an interactive process gets its input by Write", executor.ErrCommand)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := check(cmd); err != nil {
		return nil, err
	}
	c, err := e.begin(ctx, cmd, &term)
	if err != nil {
		return nil, err
	}
	select {
	case <-c.started:
		return &process{command: c}, nil
	case <-c.done:
	case <-ctx.Done():
		c.kill()
		return nil, ctx.Err()
	}
	if c.fault == nil || c.hasStarted() || errors.Is(c.fault, executor.ErrLost) {
		return &process{command: c}, nil
	}
	return nil, c.fault
}

// check returns an error if the command is invalid on this machine.
func check(cmd executor.Command) error {
	if err := cmd.Check(); err != nil {
		return err
	}
	if err := cmd.CheckPipes(); err != nil {
		return err
	}
	for _, dir := range []string{cmd.Workspace, cmd.HostPath(cmd.Dir)} {
		if info, err := os.Stat(dir); err != nil {
			return fmt.Errorf("%w: directory: %w", executor.ErrCommand, err)
		} else if !info.IsDir() {
			return fmt.Errorf("%w: %q is not a directory", executor.ErrCommand, dir)
		}
	}
	return nil
}

// Prepare implements executor.Preparer. The runner does not end by being idle before its first command.
func (e *Executor) Prepare(ctx context.Context, workspace string, limits executor.Limits) error {
	job, err := e.jobOf(executor.Command{Workspace: workspace, Limits: limits})
	if err != nil {
		return err
	}
	r, err := e.take(ctx, job)
	if err != nil {
		return err
	}
	e.mu.Lock()
	r.kept = true
	e.mu.Unlock()
	e.give(r)
	return nil
}

// begin starts a command on the runner of its workspace.
func (e *Executor) begin(ctx context.Context, cmd executor.Command, term *executor.Terminal) (*command, error) {
	job, err := e.jobOf(cmd)
	if err != nil {
		return nil, err
	}
	r, err := e.take(ctx, job)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	r.kept = false
	e.mu.Unlock()
	c, err := r.begin(cmd, term)
	if err != nil {
		e.give(r)
		return nil, err
	}
	go func() {
		<-c.done
		c.awaitPipes() // an idle runner may be ended
		e.give(r)
	}()
	return c, nil
}

// jobOf returns the job of the runner that runs a command.
func (e *Executor) jobOf(cmd executor.Command) (Job, error) {
	job := Job{Workspace: filepath.Clean(cmd.Workspace), Limits: cmd.Limits.OrDefaults()}
	id, err := e.identify(job.Workspace)
	if err != nil {
		return Job{}, err
	}
	job.Verify = []Identity{id}
	return job, nil
}

// identify returns the identity of a workspace. Links in its path on this machine are followed: they are
// the host's.
func (e *Executor) identify(workspace string) (Identity, error) {
	path, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: directory: %w", executor.ErrCommand, err)
	}
	id := Identity{At: path}
	if e.workspaceAt != "" {
		id.At = e.workspaceAt
	}
	if id.Dev, id.Ino, err = identityAt(path); err != nil {
		return Identity{}, fmt.Errorf("%w: workspace: %w", executor.ErrSetup, err)
	}
	return id, nil
}

// Find implements executor.Finder. It asks the runner that was used last, or starts one without a
// workspace.
func (e *Executor) Find(ctx context.Context, name, path string) (string, error) {
	r, err := e.takeAny(ctx)
	if err != nil {
		return "", err
	}
	defer e.give(r)
	return r.find(ctx, name, path)
}
