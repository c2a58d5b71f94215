package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/remote"
)

// Executor runs commands in containers. It implements executor.Executor, executor.Releaser and
// executor.Finder. The caller closes it after the last command.
type Executor struct {
	*remote.Executor
	report Report
	close  func() error
}

var (
	_ executor.Executor = (*Executor)(nil)
	_ executor.Releaser = (*Executor)(nil)
	_ executor.Finder   = (*Executor)(nil)
)

// Open connects to an engine and returns an executor that runs commands in containers of an image:
// its name, tag or id. It tries the kinds of isolation in order, strongest first, with a command in
// a container. Then it removes what hosts that are gone have left in the engine.
//
// The error wraps executor.ErrSetup, and its text is one line that says what to do. ctx bounds Open
// alone.
func Open(ctx context.Context, ref string, opts ...Option) (_ *Executor, err error) {
	cfg, err := configOf(opts)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "linux" {
		return nil, failure(errors.ErrUnsupported, "on %s the engine runs in a virtual machine, which does not have the files of this system: run this program on Linux, for example in that machine", runtime.GOOS)
	}
	o := &opening{carrier: carrier{config: cfg}}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.undo())
		}
	}()
	if err := o.prepare(ctx, ref); err != nil {
		return nil, err
	}
	x, err := o.tryTiers(ctx)
	if err != nil {
		return nil, err
	}
	return o.finish(x), nil
}

// opening holds what Open has prepared so far.
type opening struct {
	carrier
	sweeper sweeper
	report  Report
	undone  []func() error // frees what was prepared, in reverse order
}

// prepare finds the engine, the image and the runner, and sweeps.
func (o *opening) prepare(ctx context.Context, ref string) (err error) {
	if o.engine, err = dial(ctx, o.host); err != nil {
		return err
	}
	o.later(o.engine.Close)
	if err := o.engine.checkRuntime(o.runtime); err != nil {
		return err
	}
	if o.image, err = o.engine.resolve(ctx, ref); err != nil {
		return err
	}
	if o.self, err = thisInstance(); err != nil {
		return failure(err, "name this process: %v", err)
	}
	if o.shown, err = readableMounts(o.readable); err != nil {
		return err
	}
	if err := o.findRunner(ctx); err != nil {
		return err
	}
	if o.user, err = userOf(o.engine, o.isBoundary()); err != nil {
		return err
	}
	o.later(func() error { o.user.close(); return nil })
	if err := o.findProfile(); err != nil {
		return err
	}
	if err := errors.Join(sweepMounts(o.self), sweepTemp(os.TempDir(), o.self)); err != nil {
		return failure(err, "remove mounts and files of an earlier process: %v", err)
	}
	o.sweeper = sweeper{o.engine, o.self}
	return o.sweeper.sweep(ctx)
}

// findProfile sets the seccomp profile of the namespaces tier. Podman reads it from a file.
func (o *opening) findProfile() (err error) {
	if o.profile, err = namespacesProfile(); err != nil {
		return failure(err, "seccomp profile: %v", err)
	}
	if !o.engine.isPodman {
		return nil
	}
	path := filepath.Join(os.TempDir(), o.self.fileName(profilePrefix)+".json")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failure(err, "seccomp profile: %v", err)
	}
	o.later(func() error { return os.Remove(path) })
	_, err = file.WriteString(o.profile)
	if err = errors.Join(err, file.Close()); err != nil {
		return failure(err, "seccomp profile: %v", err)
	}
	o.profile = path
	return nil
}

// later adds what undo does.
func (o *opening) later(do func() error) { o.undone = append(o.undone, do) }

// undo frees what was prepared.
func (o *opening) undo() error {
	var errs []error
	for i := len(o.undone) - 1; i >= 0; i-- {
		errs = append(errs, o.undone[i]())
	}
	o.undone = nil
	return errors.Join(errs...)
}

// finish returns the executor, which sweeps until it is closed.
func (o *opening) finish(x *remote.Executor) *Executor {
	ctx, stop := context.WithCancel(context.Background())
	var sweeps sync.WaitGroup
	sweeps.Go(func() { o.sweeper.run(ctx) })
	return &Executor{Executor: x, report: o.report, close: sync.OnceValue(func() error {
		stop()
		sweeps.Wait()
		return errors.Join(x.Close(), o.undo())
	})}
}

// Close ends all containers of the executor and what runs in them. Later commands are refused.
func (x *Executor) Close() error { return x.close() }

// Report returns what Open has found.
func (x *Executor) Report() Report { return x.report }
