// Package local runs commands as plain child processes of the host: with limits,
// without isolation. A host chooses it explicitly.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// Local is the executor.Executor that runs commands as plain child processes of the host, as
// the host's user: they are bounded, not isolated. A command leads a session and process group
// of its own, without a terminal or with one of its own, and inherits nothing but its three
// streams and Command.Pipes.
//
// When the program has exited, the processes that it left may still write during the grace
// period, and are then killed. At a timeout or cancellation the group gets SIGTERM, and after
// the grace period everything is killed.
//
// On Linux the limits are in force before the program's first instruction: ptrace(2) starts it
// stopped, and it continues when prlimit(2) has set them. A shell that calls ulimit first would
// change the environment and make exit codes ambiguous, and the limits of the host process itself
// must not change. Processes that left the group and the session are found by a limit that has
// no effect, RLIMIT_LOCKS: it is set to a random number that children inherit. That finds every
// daemon, but not a program that tries to hide.
type Local struct {
	config
	// noPtrace says that the kernel refuses ptrace. Limits are then set just after the start.
	noPtrace atomic.Bool
	terminal executor.Capability
}

// config holds the values of the options.
type config struct {
	grace    time.Duration
	readable []string
}

// Option configures New.
type Option func(*config) error

// WithGrace sets how long processes may still run after the program has exited, and after SIGTERM:
// from 0 to 10 seconds. The default is 250 ms.
func WithGrace(d time.Duration) Option {
	return func(c *config) error {
		c.grace = d
		return process.CheckGrace(d)
	}
}

// WithReadable names directories of the host that commands need: a virtual environment, node
// modules, a toolchain. Commands can read them without this option, as they can read all files of
// the host's user. With it their programs are found by name, as with sandbox.WithReadable. Each
// must be a clean absolute path of a directory.
func WithReadable(dirs ...string) Option {
	return func(c *config) error {
		if err := process.CheckReadable(dirs); err != nil {
			return err
		}
		for _, dir := range dirs {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return fmt.Errorf("%w: readable directory %q is not a directory", process.ErrOption, dir)
			}
		}
		c.readable = append(c.readable, dirs...)
		return nil
	}
}

// New returns an executor without isolation. The error is that of an option.
func New(opts ...Option) (*Local, error) {
	l := &Local{config: config{grace: defaultGrace}, terminal: process.TerminalCapability()}
	for _, opt := range opts {
		if err := opt(&l.config); err != nil {
			return nil, err
		}
	}
	l.noPtrace.Store(!mayTrace())
	return l, nil
}

var _ executor.Executor = (*Local)(nil)

// Capabilities implements executor.Executor.
func (l *Local) Capabilities() executor.Capabilities {
	c := platformCapabilities(l.noPtrace.Load())
	none := executor.Capability{Note: "runs as the host's user without isolation"}
	c.Filesystem, c.Links, c.Network, c.HostProcesses, c.Privileges, c.SystemCalls = none, none, none, none, none, none
	c.Processes = executor.Capability{Note: "RLIMIT_NPROC counts all processes of the user and does not hold for root"}
	c.Terminal = l.terminal
	c.Loopback = executor.Capability{Note: "it takes namespaces"}
	c.Readable = l.readable
	return c
}

// Run implements executor.Executor.
func (l *Local) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	return process.Run(ctx, l.start, l.grace, cmd)
}

// Start implements executor.Executor.
func (l *Local) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	return process.Start(ctx, l.start, l.grace, cmd, term)
}

// start implements process.StartFunc.
func (l *Local) start(_ context.Context, cmd executor.Command, streams [3]*os.File, tty bool) (process.Child, error) {
	if err := cmd.CheckLoopback(); err != nil {
		return nil, err
	}
	program, err := resolve(cmd)
	if err != nil {
		return nil, process.Refusal{Result: notStartable(err)}
	}
	// The shadows are for the numbers that follow those of the pipes.
	shadows := process.Shadows()
	shadows = shadows[min(len(cmd.Pipes), len(shadows)):]
	c, err := l.startChild(program, cmd, slices.Concat(streams[:], cmd.Pipes, shadows), tty)
	if err != nil {
		if result, ok := process.Refused(cmd.Args[0], err); ok {
			return nil, process.Refusal{Result: result}
		}
		return nil, err
	}
	return c, nil
}

// resolve returns the program file of a command.
func resolve(cmd executor.Command) (string, error) {
	name := cmd.Args[0]
	if !strings.ContainsAny(name, "/"+string(filepath.Separator)) {
		return lookpath.Find(name, pathOf(cmd.Env))
	}
	if !filepath.IsAbs(name) {
		// Not cleaned: "link/../x" goes where the link leads, as in a shell.
		name = cmd.HostPath(cmd.Dir) + string(filepath.Separator) + name
	}
	return name, lookpath.Executable(name)
}

// pathOf returns the PATH of an environment; the last one counts.
func pathOf(env []string) string {
	path := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	return path
}

// notStartable returns the result for a program that does not exist or is not executable, with the
// exit code that a shell has for it.
func notStartable(err error) executor.Result {
	if errors.Is(err, lookpath.ErrNotFound) {
		return process.NeverRan(127, err.Error())
	}
	return process.NeverRan(126, err.Error())
}
