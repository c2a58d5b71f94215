// Package equipment completes what runs the commands of skills.
package equipment

import (
	"context"
	"sync"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/workspace"
)

// What stands in for what the host leaves out is made by the first command: a new
// runtime leaves no file, and an agent whose skills are only read pays for no more
// than one look, in its process, at what a sandbox holds here.

// standardSandbox is the executor of a host that names none. Nothing takes its
// place where there is no sandbox: the log then says why, and what to change.
type standardSandbox struct {
	options []sandbox.Option
	over    error // of a command for one that is closed
	mu      sync.Mutex
	opened  *sandbox.Sandbox
	closed  bool
}

var _ executor.Executor = (*standardSandbox)(nil)

// open tries again after a failure: what was missing may be there now.
func (s *standardSandbox) open() (*sandbox.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.over
	}
	if s.opened == nil {
		opened, err := sandbox.New(s.options...)
		if err != nil {
			return nil, err
		}
		s.opened = opened
	}
	return s.opened, nil
}

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
	case s.opened != nil:
		return s.opened.Capabilities()
	}
	caps, err := sandbox.Probe()
	if err != nil {
		caps = executor.Capabilities{Isolation: executor.IsolationNone, Unavailable: err.Error()}
	}
	return caps
}

func (s *standardSandbox) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.opened == nil {
		return nil
	}
	return s.opened.Close()
}

// standardPlaces are the workspaces of a host that names none: in a directory
// for temporary files.
type standardPlaces struct {
	mu      sync.Mutex
	options []workspace.Option
	over    error // of a command for places that are closed
	swept   func(workspace.Swept)
	opened  *workspace.Workspaces
	closed  bool
}

// Of implements workspace.Places.
func (p *standardPlaces) Of(ctx context.Context, session string) (workspace.Workspace, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, p.over
	}
	if p.opened == nil {
		opened, err := workspace.Open("", p.options...)
		if err != nil {
			p.mu.Unlock()
			return nil, err
		}
		opened.OnSweep(p.swept)
		p.opened = opened
	}
	opened := p.opened
	p.mu.Unlock()
	return opened.Of(ctx, session)
}

// End implements workspace.Places.
func (p *standardPlaces) End(session string) error {
	p.mu.Lock()
	opened := p.opened
	p.mu.Unlock()
	if opened == nil {
		return nil
	}
	return opened.End(session)
}

func (p *standardPlaces) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.opened == nil {
		return nil
	}
	return p.opened.Close()
}
