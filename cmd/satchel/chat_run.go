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
	Executor   string     `enum:"local,sandbox" default:"local" placeholder:"NAME" help:"What runs commands: local, without isolation, as you. The sandbox is not in this version yet."`
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
	if f.Executor == "sandbox" {
		return nil, fmt.Errorf("%w: --executor sandbox: not in this version yet; use local, which does not isolate", errUsage)
	}
	w := &workshop{runner: tools.Runner{
		Policy: policy,
		Limits: executor.Limits{Timeout: time.Duration(f.Timeout)},
	}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: %w", errUsage, err), w.Close())
		}
	}()
	if w.runner.Executor, err = executor.NewLocal(); err != nil {
		return nil, err
	}
	var hosts []string
	for _, dir := range f.AllowHost {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		hosts = append(hosts, dir)
	}
	if w.runner.Workspaces, err = workspace.Open(f.Workspaces, workspace.WithHostDirs(hosts...)); err != nil {
		return nil, err
	}
	w.open = append(w.open, w.runner.Workspaces)
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

// caution says in one line how commands are confined here, and how not.
func (w *workshop) caution() string {
	c := w.runner.Executor.Capabilities()
	if c.Isolation != executor.IsolationNone {
		return fmt.Sprintf("commands run under %s", c.Isolation)
	}
	var loose []string
	for name, is := range c.All() {
		if !is.Enforced {
			loose = append(loose, name)
		}
	}
	return "commands run unconfined on this machine, as you; not enforced: " + strings.Join(loose, ", ")
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
