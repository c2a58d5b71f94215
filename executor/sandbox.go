package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Where a command in a Sandbox finds what is its own.
const (
	// WorkspaceAt is Command.Workspace.
	WorkspaceAt = "/workspace"
	// SkillsAt is Command.Skills, read-only.
	SkillsAt = "/skills"
)

// ErrUnavailable is wrapped when this machine offers no isolation that is good
// enough. The text says why and what to change.
var ErrUnavailable = errors.New("no sandbox available")

// Sandbox is the Executor that keeps commands apart from the host. It needs
// Linux and nothing installed, neither root nor a helper program.
//
// A command runs in user, mount, process, network, IPC, host name and cgroup
// namespaces of its own. Its root is read-only and holds the system's program
// directories, a few files of /etc, its own /proc, /dev, /tmp, and [WorkspaceAt]
// and [SkillsAt]; nothing else of the host has a path there. It has no network
// but a loopback interface of its own, and is an ordinary user without any
// capability. Landlock and a seccomp filter are the second wall. When the first
// process of the sandbox ends, the kernel ends all others.
//
// Where namespaces are forbidden to an ordinary user, Landlock and the seccomp
// filter alone remain, and Capabilities says what that does not cover. Where
// these are missing too, NewSandbox returns ErrUnavailable: nothing is ever run
// with less than was found at the start, and a step of the setup that fails
// fails the command, with ErrSetup.
//
// A kernel that has an exploitable fault is out of its reach; for hostile
// tenants put a virtual machine around the host.
type Sandbox struct {
	settings
	platform
}

// settings are what the options set.
type settings struct {
	grace    time.Duration
	readable []string
	temp     int64
	prepared int
	cgroup   string
	least    Isolation
	lite     bool // for tests: as if there were no namespaces
}

// Defaults of a Sandbox.
const (
	// DefaultTemp is the size of a sandbox's /tmp; /dev/shm has the same again.
	DefaultTemp = 256 << 20
	maxPrepared = 64
	maxReadable = 32
)

// SandboxOption configures NewSandbox.
type SandboxOption func(*settings) error

// WithReadable shows directories of the host to commands, at the same path and
// read-only, beside the system's own: /opt/tools, say. All that this process's
// user owns in them can be read, and sockets in them can be connected to. The
// default is none; 32 is the most. What is no directory is an error of NewSandbox.
func WithReadable(dirs ...string) SandboxOption {
	return func(s *settings) error {
		if len(s.readable)+len(dirs) > maxReadable {
			return fmt.Errorf("%w: %d readable directories: at most %d", ErrOption, len(s.readable)+len(dirs), maxReadable)
		}
		for _, dir := range dirs {
			if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir || dir == "/" {
				return fmt.Errorf("%w: readable directory %q is not a clean absolute path", ErrOption, dir)
			}
		}
		s.readable = append(s.readable, dirs...)
		return nil
	}
}

// WithTemp sets the size of /tmp, and of /dev/shm, in bytes. Both are memory;
// DefaultTemp is the default.
func WithTemp(bytes int64) SandboxOption {
	return func(s *settings) error {
		if bytes < 4096 {
			return fmt.Errorf("%w: %d bytes for /tmp: at least 4096", ErrOption, bytes)
		}
		s.temp = bytes
		return nil
	}
}

// WithPrepared keeps n sandboxes ready, from 0 to 64, which hides most of the
// time of a start. Each is used for one command and never again. The default
// is 0; n costs a process of about 5 MB each.
func WithPrepared(n int) SandboxOption {
	return func(s *settings) error {
		if n < 0 || n > maxPrepared {
			return fmt.Errorf("%w: %d prepared sandboxes: 0 to %d", ErrOption, n, maxPrepared)
		}
		s.prepared = n
		return nil
	}
}

// WithCgroup names a cgroup directory that was delegated to this process, to
// make the commands' groups in. The default is to look for one.
func WithCgroup(dir string) SandboxOption {
	return func(s *settings) error {
		if !filepath.IsAbs(dir) {
			return fmt.Errorf("%w: cgroup %q is not absolute", ErrOption, dir)
		}
		s.cgroup = dir
		return nil
	}
}

// WithLeast sets the weakest isolation to accept: IsolationLandlock, the
// default, or IsolationNamespaces.
func WithLeast(least Isolation) SandboxOption {
	return func(s *settings) error {
		if least != IsolationLandlock && least != IsolationNamespaces {
			return fmt.Errorf("%w: isolation %q: want %q or %q", ErrOption, least, IsolationLandlock, IsolationNamespaces)
		}
		s.least = least
		return nil
	}
}

// WithSandboxGrace is WithGrace for a Sandbox.
func WithSandboxGrace(d time.Duration) SandboxOption {
	return func(s *settings) error {
		if d < 0 || d > maxGrace {
			return fmt.Errorf("%w: grace %v is not between 0 and %v", ErrOption, d, maxGrace)
		}
		s.grace = d
		return nil
	}
}

// NewSandbox finds out what this machine can do, by trying it, and returns an
// executor that does it. The error wraps ErrUnavailable or ErrOption. Close it
// when no command will follow.
func NewSandbox(opts ...SandboxOption) (*Sandbox, error) {
	s := &Sandbox{settings: settings{grace: DefaultGrace, temp: DefaultTemp, least: IsolationLandlock}}
	for _, opt := range opts {
		if err := opt(&s.settings); err != nil {
			return nil, err
		}
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

var _ Executor = (*Sandbox)(nil)

// Run implements Executor.
func (s *Sandbox) Run(ctx context.Context, cmd Command) (Result, error) {
	return run(ctx, s, s.grace, withWorkspace(cmd))
}

// Start implements Executor.
func (s *Sandbox) Start(ctx context.Context, cmd Command, term Terminal) (Process, error) {
	return start(ctx, s, s.grace, withWorkspace(cmd), term)
}

// withWorkspace lets the directory stand for a workspace that is not named.
func withWorkspace(cmd Command) Command {
	if cmd.Workspace == "" {
		cmd.Workspace = cmd.Dir
	}
	return cmd
}
