package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/internal/shellcmd/lookpath"
)

// DefaultGrace is how long Local waits for processes to end by themselves.
const DefaultGrace = 250 * time.Millisecond

const maxGrace = 10 * time.Second

// ErrOption is wrapped when NewLocal is given an option that has no meaning.
var ErrOption = errors.New("invalid option")

// Local is the Executor that runs commands as plain child processes of the
// host, as the host's user: they are bounded, not isolated. A command leads a
// session and process group of its own, without terminal or with one of its
// own, and inherits nothing but its three streams.
//
// When the program has exited, what it left running may still write for the
// length of the grace and is then killed. At a timeout or cancellation the
// group gets SIGTERM, and after the grace everything is killed.
//
// On Linux the limits are in force before the program's first instruction: it
// is started stopped, by ptrace(2), and let go when prlimit(2) has set them. A
// shell that calls ulimit first would change the environment and blur the exit
// codes, and the limits of the host process itself must not change. Processes
// that left the group and the session are found by a limit that has no effect,
// RLIMIT_LOCKS: it is set to a random number that children inherit. That finds
// every daemon, but not a program that sets out to hide.
type Local struct {
	grace time.Duration
	// untraced is set when the kernel refuses ptrace: limits are then set just
	// after the start.
	untraced atomic.Bool
	terminal Capability
}

// LocalOption configures NewLocal.
type LocalOption func(*Local) error

// WithGrace sets how long processes may go on after the program has exited, and
// after SIGTERM: from 0 to 10 seconds; DefaultGrace is the default.
func WithGrace(d time.Duration) LocalOption {
	return func(l *Local) error {
		if d < 0 || d > maxGrace {
			return fmt.Errorf("%w: grace %v is not between 0 and %v", ErrOption, d, maxGrace)
		}
		l.grace = d
		return nil
	}
}

// NewLocal returns an executor without isolation. The error wraps ErrOption.
func NewLocal(opts ...LocalOption) (*Local, error) {
	l := &Local{grace: DefaultGrace, terminal: terminalCapability()}
	for _, opt := range opts {
		if err := opt(l); err != nil {
			return nil, err
		}
	}
	l.untraced.Store(!mayTrace())
	return l, nil
}

var _ Executor = (*Local)(nil)

// Capabilities implements Executor.
func (l *Local) Capabilities() Capabilities {
	c := platformCapabilities(l.untraced.Load())
	c.Isolation = IsolationNone
	none := Capability{Note: "runs as the host's user without isolation"}
	c.Filesystem, c.Network, c.HostProcesses, c.Privileges, c.SystemCalls = none, none, none, none, none
	c.Processes = Capability{Note: "RLIMIT_NPROC counts all processes of the user and does not hold for root"}
	c.Terminal = l.terminal
	return c
}

// Run implements Executor.
func (l *Local) Run(ctx context.Context, cmd Command) (Result, error) {
	return run(ctx, l, l.grace, cmd)
}

// Start implements Executor.
func (l *Local) Start(ctx context.Context, cmd Command, term Terminal) (Process, error) {
	return start(ctx, l, l.grace, cmd, term)
}

// spawn implements spawner.
func (l *Local) spawn(_ context.Context, cmd Command, streams [3]*os.File, tty bool) (child, error) {
	program, err := resolve(cmd)
	if err != nil {
		return nil, refusal{notStartable(err)}
	}
	p, err := l.startProcess(program, cmd, append(streams[:], shadows()...), tty)
	if err != nil {
		if result, ok := refused(cmd.Args[0], err); ok {
			return nil, refusal{result}
		}
		return nil, err
	}
	return p, nil
}

// resolve finds the program file of a command.
func resolve(cmd Command) (string, error) {
	name := cmd.Args[0]
	if !strings.ContainsAny(name, "/"+string(filepath.Separator)) {
		return lookpath.Find(name, pathOf(cmd.Env))
	}
	if !filepath.IsAbs(name) {
		// Not cleaned: "link/../x" goes where the link leads, as in a shell.
		name = cmd.Dir + string(filepath.Separator) + name
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

// notStartable is the result of a program that is not there or not executable,
// with the exit codes that a shell has for it.
func notStartable(err error) Result {
	if errors.Is(err, lookpath.ErrNotFound) {
		return neverRan(127, err.Error())
	}
	return neverRan(126, err.Error())
}
