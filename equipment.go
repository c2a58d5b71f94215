package satchel

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/workspace"
)

// equip completes the runner with what the host left to the runtime.
func (r *Runtime) equip() {
	if r.runner == nil {
		return
	}
	if r.runner.Artifacts == nil {
		r.runner.Artifacts = artifacts.NewMemory()
	}
	if r.runner.Workspaces == nil {
		places := &standardPlaces{options: []workspace.Option{workspace.WithLogger(r.logger)}, swept: r.swept}
		r.runner.Workspaces, r.closers = places, append(r.closers, places.close)
	} else if places, ok := r.runner.Workspaces.(interface {
		OnSweep(func(workspace.Swept)) (stop func())
	}); ok {
		stop := places.OnSweep(r.swept)
		r.closers = append(r.closers, func() error { stop(); return nil })
	}
	if r.runner.Executor == nil {
		standard := &standardSandbox{}
		if r.runner.Dependencies != nil {
			standard.options = append(standard.options, sandbox.WithReadable(r.runner.Dependencies.Dir()))
		}
		r.runner.Executor, r.closers = standard, append(r.closers, standard.close)
	}
	r.terminals = terminal.New(r.runner.Sessions)
}

// warnUnavailable logs that the commands of skills cannot run on this machine.
func (r *Runtime) warnUnavailable() {
	if r.runner == nil || !r.set.Has("skill_run") && !r.set.Has("skill_exec") {
		return
	}
	if why := r.runner.Executor.Capabilities().Unavailable; why != "" {
		r.logger.Warn("commands of skills cannot run on this machine", "why", why)
	}
}

// Ready reports why commands cannot run at all, and what to change; nil if they
// can, or if the runtime runs none. It opens the sandbox of a host that names no
// executor, as the first command would.
func (r *Runtime) Ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil || r.runner == nil {
		return err
	}
	if own, ok := r.runner.Executor.(*standardSandbox); ok {
		_, err := own.open()
		return err
	}
	if why := r.runner.Executor.Capabilities().Unavailable; why != "" {
		return fmt.Errorf("%w: %s", executor.ErrSetup, why)
	}
	return nil
}

// swept reports a workspace that nobody had used for long.
func (r *Runtime) swept(s workspace.Swept) {
	detail := "idle"
	if s.Err != nil {
		detail += ": " + s.Err.Error()
	}
	r.emit(context.Background(), core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: s.Session}, Duration: s.Took, Detail: detail})
}

// unstager is a workspace that can give back the files of a skill.
type unstager interface {
	Unstage(ctx context.Context, skill string) error
}

// unstage removes the staged files of skills that a session may not see any more.
func (r *Runtime) unstage(ctx context.Context, key core.SessionKey, names []string) error {
	if r.runner == nil || len(names) == 0 {
		return nil
	}
	ws, err := r.runner.Workspaces.Of(ctx, key.Session)
	if err != nil {
		return err
	}
	defer ws.Release()
	u, ok := ws.(unstager)
	if !ok {
		return nil
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, u.Unstage(ctx, name))
	}
	return errors.Join(errs...)
}
