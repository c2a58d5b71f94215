package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/tools/run"
	host "github.com/satchel-go/satchel/workspace"
)

// AddDefaults sets the workspaces, the executor and the artifacts that the host has not set in
// runner. It returns functions that close them; after that, commands fail with errClosed.
// Workspaces report each idle workspace that they remove to swept.
func AddDefaults(runner *run.Runner, log *slog.Logger, swept func(workspace.Removal), errClosed error) (closers []func() error) {
	if runner.Artifacts == nil {
		runner.Artifacts = artifacts.NewMemory()
	}
	by := runner.Executor // of the host
	if runner.Workspaces == nil {
		places := &standardPlaces{lazy[*workspace.Workspaces]{errClosed: errClosed, make: func(ctx context.Context) (*workspace.Workspaces, error) {
			places, err := workspace.Open(ctx, "", workspace.WithLogger(log))
			if err == nil {
				places.OnSweep(swept)
				workspace.ReleaseBy(places, by)
			}
			return places, err
		}}}
		runner.Workspaces, closers = places, append(closers, places.close)
	} else if places, ok := runner.Workspaces.(interface {
		OnSweep(func(workspace.Removal)) (stop func())
	}); ok {
		stopSwept, stopRelease := places.OnSweep(swept), workspace.ReleaseBy(places, by)
		closers = append(closers, func() error { stopSwept(); stopRelease(); return nil })
	}
	if runner.Executor == nil {
		var options []sandbox.Option
		if runner.Dependencies != "" {
			options = append(options, sandbox.WithReadable(runner.Dependencies))
		}
		standard := &standardSandbox{lazy[*sandbox.Sandbox]{errClosed: errClosed, make: func(ctx context.Context) (*sandbox.Sandbox, error) { return sandbox.Open(ctx, options...) }}}
		runner.Executor, closers = standard, append(closers, standard.close)
	}
	return closers
}

// Ready returns why commands cannot run at all and what to change, nil if they can. If the host
// has set no executor, it opens the sandbox like the first command.
func Ready(ctx context.Context, runner *run.Runner) error {
	if own, ok := runner.Executor.(*standardSandbox); ok {
		_, err := own.open(ctx)
		return err
	}
	if why := runner.Executor.Capabilities().Unavailable; why != "" {
		return fmt.Errorf("%w: %s", executor.ErrSetup, why)
	}
	return nil
}

// unstager is a workspace that can remove the staged files of a skill.
type unstager interface {
	Unstage(ctx context.Context, skill string) error
}

// Unstage removes the staged files of skills from the workspace of a session.
func Unstage(ctx context.Context, places host.Places, session string, skills []string) error {
	own, ok := places.(workspace.Places)
	if !ok {
		return nil // no command could run in such workspaces
	}
	ws, err := own.Of(ctx, session)
	if err != nil {
		return err
	}
	defer ws.Release()
	u, ok := ws.(unstager)
	if !ok {
		return nil
	}
	var errs []error
	for _, name := range skills {
		errs = append(errs, u.Unstage(ctx, name))
	}
	return errors.Join(errs...)
}

// lazy makes a default value when the first command needs it. So a new runtime creates no file,
// and an agent that runs nothing never opens a sandbox.
type lazy[T interface{ Close() error }] struct {
	make      func(context.Context) (T, error)
	errClosed error // of a command for one that is closed

	mu       sync.Mutex
	made     T
	isMade   bool
	isClosed bool
}

// open makes the value if it is not made yet. It tries again after a failure, because the cause
// may be gone.
func (l *lazy[T]) open(ctx context.Context) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	switch {
	case l.isClosed:
		err = l.errClosed
	case !l.isMade:
		l.made, err = l.make(ctx)
		l.isMade = err == nil
	}
	return l.made, err
}

func (l *lazy[T]) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isClosed = true
	if !l.isMade {
		return nil
	}
	return l.made.Close()
}

// standardSandbox is the executor if the host has set none. If there is no sandbox on this
// machine, commands fail with the reason; they never run without one.
type standardSandbox struct{ lazy[*sandbox.Sandbox] }

var _ executor.Executor = (*standardSandbox)(nil)

// Run implements executor.Executor.
func (s *standardSandbox) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	sandbox, err := s.open(ctx)
	if err != nil {
		return executor.Result{ExitCode: -1, Reason: executor.ReasonSetup}, err
	}
	return sandbox.Run(ctx, cmd)
}

// Start implements executor.Executor.
func (s *standardSandbox) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	sandbox, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return sandbox.Start(ctx, cmd, term)
}

// Capabilities implements executor.Executor. It leaves no sandbox open.
func (s *standardSandbox) Capabilities() executor.Capabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isClosed:
		return executor.Capabilities{Unavailable: s.errClosed.Error()}
	case s.isMade:
		return s.made.Capabilities()
	}
	return probe()
}

// probed caches the capabilities of a sandbox without options.
var probed struct {
	sync.Mutex
	isKnown bool
	caps    executor.Capabilities
}

// probe returns the capabilities of a sandbox on this machine, or why there is none. It caches
// only success.
func probe() executor.Capabilities {
	probed.Lock()
	defer probed.Unlock()
	if probed.isKnown {
		return probed.caps
	}
	s, err := sandbox.Open(context.Background())
	if err != nil {
		return executor.Capabilities{Unavailable: err.Error()}
	}
	caps := s.Capabilities()
	if err := s.Close(); err != nil {
		return executor.Capabilities{Unavailable: err.Error()}
	}
	probed.isKnown, probed.caps = true, caps
	return caps
}

// standardPlaces are the workspaces if the host has set none. They are in the directory for
// temporary files.
type standardPlaces struct{ lazy[*workspace.Workspaces] }

// Of implements workspace.Places.
func (p *standardPlaces) Of(ctx context.Context, session string) (workspace.Workspace, error) {
	places, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	return places.Of(ctx, session)
}

// Sweep implements workspace.Places.
func (p *standardPlaces) Sweep() (int, error) {
	p.mu.Lock()
	places, isMade := p.made, p.isMade
	p.mu.Unlock()
	if !isMade {
		return 0, nil
	}
	return places.Sweep()
}

// Close implements workspace.Places.
func (p *standardPlaces) Close() error { return p.close() }

// End implements workspace.Places.
func (p *standardPlaces) End(session string) error {
	p.mu.Lock()
	places, isMade := p.made, p.isMade
	p.mu.Unlock()
	if !isMade {
		return nil
	}
	return places.End(session)
}
