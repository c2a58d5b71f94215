package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/shellcmd"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// The variables that restrict what skill_run may start.
const (
	envAllowed = "SATCHEL_RUN_ALLOWED_COMMANDS"
	envDenied  = "SATCHEL_RUN_DENIED_COMMANDS"
)

// maxTimeout is the longest default that --timeout takes; skill_run allows a
// call no more.
const maxTimeout = 24 * time.Hour

// runFlags are the flags about commands.
type runFlags struct {
	AllowHost  []string   `sep:"none" placeholder:"DIR" help:"Directory of this machine whose files a run may take as inputs (host:///…); may be repeated. None is allowed otherwise."`
	Artifacts  string     `placeholder:"DIR" help:"Where saved outputs are kept, also for later chats with the same directory. Default: in memory, until the end."`
	Workspaces string     `placeholder:"DIR" help:"Where the workspaces of runs are made, and removed at the end. Default: the system's temporary directory."`
	Executor   string     `enum:"local,sandbox" default:"sandbox" placeholder:"NAME" help:"What runs commands: sandbox, kept apart from this machine (see satchel doctor), or local, without isolation, as you."`
	Timeout    runTimeout `placeholder:"TIME" help:"How long a command may run if the call does not say: seconds, or a duration such as 2m (default 300)."`
}

// runTimeout is a number of seconds or a duration with its unit.
type runTimeout time.Duration

// UnmarshalText reads a flag.
func (t *runTimeout) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if seconds, number := strconv.ParseFloat(string(text), 64); number == nil && seconds <= maxTimeout.Seconds() {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d <= 0 || d > maxTimeout {
		return fmt.Errorf("timeout %q: use seconds, or a duration such as 2m, up to %s", text, maxTimeout)
	}
	*t = runTimeout(d)
	return nil
}

// newPolicy reads which commands may run. A variable that is set and names
// nothing is an error: taking it for no restriction would surprise whoever set
// it.
func newPolicy(env func(string) string) (shellcmd.Policy, error) {
	p := shellcmd.Policy{Allowed: shellcmd.ParseList(env(envAllowed)), Denied: shellcmd.ParseList(env(envDenied))}
	for name, list := range map[string][]string{envAllowed: p.Allowed, envDenied: p.Denied} {
		if len(list) == 0 && env(name) != "" {
			return p, fmt.Errorf("%w: %s is set and names no command", errUsage, name)
		}
	}
	return p, nil
}

// workshop is what runs need and what has to be closed after them, in this
// order.
type workshop struct {
	runner tools.Runner
	open   []io.Closer
}

// open makes what the flags ask for. The caller closes it.
func (f *runFlags) open(policy shellcmd.Policy) (_ *workshop, err error) {
	w := &workshop{runner: tools.Runner{
		Policy: policy,
		Limits: executor.Limits{Timeout: time.Duration(f.Timeout)},
	}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: %w", errUsage, err), w.Close())
		}
	}()
	if err := w.chooseExecutor(f.Executor); err != nil {
		return nil, err
	}
	var hosts []string
	for _, dir := range f.AllowHost {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		hosts = append(hosts, dir)
	}
	places, err := workspace.Open(f.Workspaces, workspace.WithHostDirs(hosts...))
	if err != nil {
		return nil, err
	}
	w.runner.Workspaces, w.open = places, append(w.open, places)
	if f.Artifacts == "" {
		w.runner.Artifacts = artifacts.NewMemory()
		return w, nil
	}
	store, err := artifacts.NewDirectory(f.Artifacts)
	if err != nil {
		return nil, err
	}
	w.runner.Artifacts, w.open = store, append(w.open, store)
	return w, nil
}

// chooseExecutor never takes less isolation than was asked for.
func (w *workshop) chooseExecutor(name string) error {
	if name == "local" {
		local, err := executor.NewLocal()
		w.runner.Executor = local
		return err
	}
	sandbox, err := executor.NewSandbox()
	if err != nil {
		return fmt.Errorf("--executor sandbox: %w; --executor local runs commands as you, without isolation", err)
	}
	w.runner.Executor, w.open = sandbox, append(w.open, sandbox)
	return nil
}

// caution says in one line how commands are confined here, and how not.
func (w *workshop) caution() string {
	c := w.runner.Executor.Capabilities()
	var loose []string
	for name, is := range c.All() {
		if !is.Enforced {
			loose = append(loose, name)
		}
	}
	how := "commands run unconfined on this machine, as you"
	if c.Isolation != executor.IsolationNone {
		how = fmt.Sprintf("commands run in a sandbox (%s)", c.Isolation)
	}
	if len(loose) > 0 {
		how += "; not enforced: " + strings.Join(loose, ", ")
	}
	return how
}

// Close removes the workspaces and closes the artifacts. No command may run
// any more.
func (w *workshop) Close() error {
	var errs []error
	for _, c := range w.open {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
