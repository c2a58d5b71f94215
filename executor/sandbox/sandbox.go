// Package sandbox runs commands isolated from the host, on Linux. Nothing needs
// to be installed.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
)

// The paths at which a command in a Sandbox finds its files.
const (
	// workspaceAt is Command.Workspace.
	workspaceAt = "/workspace"
	// skillsAt is Command.Skills, read-only.
	skillsAt = "/skills"
)

// ErrUnavailable is wrapped if this machine offers no isolation that is good enough. The error text
// says why and what to change.
var ErrUnavailable = errors.New("no sandbox available")

// Sandbox is the Executor that isolates commands from the host. It needs Linux and nothing
// installed, neither root nor a helper program.
//
// A command runs in user, mount, process, network, IPC, host name and cgroup namespaces of its
// own. Its root is read-only. It holds the system's program directories, a few files of /etc,
// its own /proc, /dev, /tmp, and /workspace and /skills. Nothing else of the host has a path
// there. It has no network but a loopback interface of its own, and runs as an ordinary
// user without any capability. Landlock and a seccomp filter are a second line of defence. When
// the first process of the sandbox ends, the kernel ends all others.
//
// If an ordinary user may not make namespaces, only Landlock and the seccomp filter remain, and
// Capabilities says what they do not cover. If these are missing too, Open returns
// ErrUnavailable. No command ever runs with less isolation than Open has found: if a step of the
// setup fails, the command fails with ErrSetup.
//
// A Sandbox cannot protect against exploitable faults in the kernel; for hostile tenants put a
// virtual machine around the host.
type Sandbox struct {
	config
	platform
}

// config holds the values of the options.
type config struct {
	grace             time.Duration
	readable          []string
	temp              int64
	prepared          int
	cgroup            string
	least             executor.Isolation
	withoutNamespaces bool // for tests: as if the machine had no namespaces
}

// Option configures Open.
type Option func(*config) error

// WithReadable shows directories of the host to commands, such as /opt/tools, at the same path and
// read-only, besides the system's own. A command can read all files in them that this process's
// user owns, and connect to sockets in them. The default is none; at most 32 are allowed. Open
// fails if one is not a directory.
func WithReadable(dirs ...string) Option {
	return func(s *config) error {
		if len(s.readable)+len(dirs) > maxReadable {
			return fmt.Errorf("%w: %d readable directories: at most %d", process.ErrOption, len(s.readable)+len(dirs), maxReadable)
		}
		if err := process.CheckReadable(dirs); err != nil {
			return err
		}
		if slices.Contains(dirs, "/") {
			return fmt.Errorf("%w: readable directory \"/\" is all of the host", process.ErrOption)
		}
		s.readable = append(s.readable, dirs...)
		return nil
	}
}

// WithTemp sets the size of /tmp, and of /dev/shm, in bytes. Both are memory. The default is
// 256 MiB.
func WithTemp(bytes int64) Option {
	return func(s *config) error {
		if bytes < minTemp {
			return fmt.Errorf("%w: %d bytes for /tmp: at least %d", process.ErrOption, bytes, minTemp)
		}
		s.temp = bytes
		return nil
	}
}

// WithPrepared keeps n sandboxes ready, from 0 to 64, which saves most of the start-up time of a
// command. Each sandbox serves one command, and then another is prepared. The default is 0. Each
// costs a process of about 5 MB.
func WithPrepared(n int) Option {
	return func(s *config) error {
		if n < 0 || n > maxPrepared {
			return fmt.Errorf("%w: %d prepared sandboxes: 0 to %d", process.ErrOption, n, maxPrepared)
		}
		s.prepared = n
		return nil
	}
}

// WithCgroup names a cgroup directory that was delegated to this process. The sandbox creates the
// cgroups of commands in it. By default Open looks for one.
func WithCgroup(dir string) Option {
	return func(s *config) error {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("%w: cgroup %q is not absolute", process.ErrOption, dir)
		}
		s.cgroup = dir
		return nil
	}
}

// WithLeast sets the weakest isolation that Open accepts: IsolationLandlock, which is the default, or
// IsolationNamespaces.
func WithLeast(least executor.Isolation) Option {
	return func(s *config) error {
		if least != executor.IsolationLandlock && least != executor.IsolationNamespaces {
			return fmt.Errorf("%w: isolation %q: want %q or %q", process.ErrOption, least, executor.IsolationLandlock, executor.IsolationNamespaces)
		}
		s.least = least
		return nil
	}
}

// WithGrace sets how long processes may still run after the program has exited, and after SIGTERM:
// from 0 to 10 seconds. The default is 250 ms.
func WithGrace(d time.Duration) Option {
	return func(s *config) error {
		s.grace = d
		return process.CheckGrace(d)
	}
}

// Open returns an executor with the strongest isolation that this machine offers. To find out, it
// runs a small command. The error is that of an option or of ctx, or wraps ErrUnavailable. ctx bounds
// Open alone. The caller closes the executor after the last command.
//
// Open does not try settings again that have worked in this process. If the machine changes
// afterwards, commands fail with executor.ErrSetup.
func Open(ctx context.Context, opts ...Option) (*Sandbox, error) {
	s := &Sandbox{config: config{grace: process.DefaultGrace, temp: defaultTemp, least: executor.IsolationLandlock}}
	for _, opt := range opts {
		if err := opt(&s.config); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

var _ executor.Executor = (*Sandbox)(nil)
