package call

import (
	"context"
	"sync"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// lazy is what stands in for something that the host leaves out. It is made by the first
// command: a new runtime leaves no file, and an agent whose skills are only read pays
// for no more than one look, in its process, at what a sandbox holds here.
type lazy[T interface{ Close() error }] struct {
	make func() (T, error)
	over error // of a command for one that is closed

	mu     sync.Mutex
	made   T
	isMade bool
	closed bool
}

// open tries again after a failure: what was missing may be there now.
func (l *lazy[T]) open() (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	switch {
	case l.closed:
		err = l.over
	case !l.isMade:
		l.made, err = l.make()
		l.isMade = err == nil
	}
	return l.made, err
}

func (l *lazy[T]) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if !l.isMade {
		return nil
	}
	return l.made.Close()
}

// standardSandbox is the executor of a host that names none. Nothing takes its
// place where there is no sandbox: the log then says why, and what to change.
type standardSandbox struct{ lazy[*sandbox.Sandbox] }

var _ executor.Executor = (*standardSandbox)(nil)

// Run implements executor.Executor.
func (s *standardSandbox) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	sandbox, err := s.open()
	if err != nil {
		return executor.Result{ExitCode: -1, Reason: executor.ReasonSetup}, err
	}
	return sandbox.Run(ctx, cmd)
}

// Start implements executor.Executor.
func (s *standardSandbox) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	sandbox, err := s.open()
	if err != nil {
		return nil, err
	}
	return sandbox.Start(ctx, cmd, term)
}

// Capabilities implements executor.Executor. It opens nothing that stays open.
func (s *standardSandbox) Capabilities() executor.Capabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return executor.Capabilities{Isolation: executor.IsolationNone, Unavailable: s.over.Error()}
	case s.isMade:
		return s.made.Capabilities()
	}
	caps, err := sandbox.Probe()
	if err != nil {
		caps = executor.Capabilities{Isolation: executor.IsolationNone, Unavailable: err.Error()}
	}
	return caps
}

// standardPlaces are the workspaces of a host that names none: in a directory
// for temporary files.
type standardPlaces struct{ lazy[*workspace.Workspaces] }

// Of implements workspace.Places.
func (p *standardPlaces) Of(ctx context.Context, session string) (workspace.Workspace, error) {
	places, err := p.open()
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
