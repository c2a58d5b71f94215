package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/tools/run"
	host "github.com/satchel-go/satchel/workspace"
)

// Equip completes a runner with what the host has left out, and returns the functions that
// close it. Once they have run, commands fail with over. Workspaces report to swept which of
// them were removed because they were unused for long.
func Equip(runner *run.Runner, log *slog.Logger, swept func(workspace.Swept), over error) (closers []func() error) {
	if runner.Artifacts == nil {
		runner.Artifacts = artifacts.NewMemory()
	}
	if runner.Workspaces == nil {
		places := &standardPlaces{lazy[*workspace.Workspaces]{over: over, make: func() (*workspace.Workspaces, error) {
			places, err := workspace.Open("", workspace.WithLogger(log))
			if err == nil {
				places.OnSweep(swept)
			}
			return places, err
		}}}
		runner.Workspaces, closers = places, append(closers, places.close)
	} else if places, ok := runner.Workspaces.(interface {
		OnSweep(func(workspace.Swept)) (stop func())
	}); ok {
		stop := places.OnSweep(swept)
		closers = append(closers, func() error { stop(); return nil })
	}
	if runner.Executor == nil {
		var options []sandbox.Option
		if runner.Dependencies != nil {
			options = append(options, sandbox.WithReadable(runner.Dependencies.Dir()))
		}
		standard := &standardSandbox{lazy[*sandbox.Sandbox]{over: over, make: func() (*sandbox.Sandbox, error) { return sandbox.New(options...) }}}
		runner.Executor, closers = standard, append(closers, standard.close)
	}
	return closers
}

// Ready reports why commands cannot run at all, and what to change; nil if they can. It
// opens the sandbox of a host that names no executor, as the first command would.
func Ready(runner *run.Runner) error {
	if own, ok := runner.Executor.(*standardSandbox); ok {
		_, err := own.open()
		return err
	}
	if why := runner.Executor.Capabilities().Unavailable; why != "" {
		return fmt.Errorf("%w: %s", executor.ErrSetup, why)
	}
	return nil
}

// unstager is a workspace that can give back the files of a skill.
type unstager interface {
	Unstage(ctx context.Context, skill string) error
}

// Unstage removes the staged files of skills from the workspace of a session.
func Unstage(ctx context.Context, places host.Places, session string, skills []string) error {
	own, ok := places.(workspace.Places)
	if !ok {
		return nil // it could run no command
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
