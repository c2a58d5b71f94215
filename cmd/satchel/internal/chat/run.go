package chat

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
	skillrun "github.com/satchel-go/satchel/tools/run"
	"github.com/satchel-go/satchel/workspace"
)

// RunFlags are the flags about commands.
type RunFlags struct {
	AllowHost         []string `group:"What commands read and leave:" sep:"none" placeholder:"DIR" help:"Directory of this machine whose files a run may take as inputs (host:///…); may be repeated. None is allowed otherwise."`
	Attach            []string `group:"What commands read and leave:" sep:"none" placeholder:"FILE" help:"File that the user brings with the first prompt; commands find it in work/inputs; may be repeated."`
	Readable          []string `sep:"none" placeholder:"DIR" help:"Directory of this machine that commands may read, at the same path, such as a toolchain; may be repeated. Programs in its bin are found by name."`
	Allow             []string `sep:"none" placeholder:"URL" help:"What commands may reach of the hosts that their skill asks for in its metadata (network), such as https://api.example.com or https://*.example.com; may be repeated. Nothing otherwise."`
	Private           []string `sep:"none" placeholder:"CIDR" help:"Range of addresses that --allow may lead to although it is not public, such as 10.1.0.0/16; may be repeated."`
	Artifacts         string   `group:"What commands read and leave:" placeholder:"DIR" help:"Where saved outputs are kept, also for later chats with the same directory, or bucket s3://… (build tag cloud). Default: in memory, until the end."`
	Workspaces        string   `group:"What commands read and leave:" placeholder:"DIR" help:"Where the workspaces of runs are made, and removed at the end. Default: the system's temporary directory."`
	Deps              string   `placeholder:"DIR" help:"Where satchel deps has installed packages. Default: the directory that it takes by default, if it is there."`
	Executor          string   `enum:"docker,local,sandbox" default:"sandbox" placeholder:"NAME" help:"What runs commands: sandbox, kept apart from this machine (see satchel doctor); docker, the same in containers of --image; or local, without isolation, as you."`
	places.Containers `embed:"" group:"Containers (--executor docker):"`
	Timeout           runTimeout `placeholder:"TIME" help:"How long a command may run if the call does not say: seconds, or a duration such as 2m (default 300)."`
	// attached, if not nil, returns the files of a conversation in place of those of Attach.
	attached func(context.Context) []workspace.Attachment
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

// PolicyOf reads which commands may run. A variable that is set but names no command is an
// error, because the user who set it meant a restriction.
func PolicyOf(env func(string) string) (skillrun.Policy, error) {
	policy, err := skillrun.PolicyFromEnv(env)
	if err != nil {
		return policy, fmt.Errorf("%w: %w", cli.ErrStart, err)
	}
	return policy, nil
}

// runResources holds what runs need.
type runResources struct {
	runner satchel.Runner
	open   cli.Closers
}

// open opens what the flags name. The caller closes it.
func (f *RunFlags) open(ctx context.Context, policy skillrun.Policy) (_ *runResources, err error) {
	if err := f.Containers.Check(f.Executor); err != nil {
		return nil, err
	}
	w := &runResources{runner: satchel.Runner{
		Policy: policy,
		Limits: executor.Limits{Timeout: time.Duration(f.Timeout)},
	}}
	defer func() {
		if err != nil && !errors.Is(err, places.ErrContainers) {
			err = fmt.Errorf("%w: %w", cli.ErrStart, err)
		}
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.runner.Attached, err = attachments(f.Attach); err != nil {
		return nil, err
	}
	if f.attached != nil {
		w.runner.Attached = f.attached
	}
	if w.runner.Egress, err = f.egress(); err != nil {
		return nil, err
	}
	if w.runner.Dependencies, err = places.PackagesDir(f.Deps); err != nil {
		return nil, err
	}
	if err := w.chooseExecutor(ctx, f); err != nil {
		return nil, err
	}
	hosts, err := places.Absolute(f.AllowHost)
	if err != nil {
		return nil, err
	}
	spaces, err := workspace.Open(ctx, f.Workspaces, workspace.WithHostDirs(hosts...))
	if err != nil {
		return nil, err
	}
	w.runner.Workspaces, w.open = spaces, append(w.open, spaces)
	if f.Artifacts == "" {
		w.runner.Artifacts = artifacts.NewMemory()
		return w, nil
	}
	store, open, err := places.OpenArtifacts(ctx, f.Artifacts)
	if err != nil {
		return nil, err
	}
	w.runner.Artifacts, w.open = store, append(w.open, open)
	return w, nil
}

// chooseExecutor opens the executor that the flags name. It fails if the sandbox is not available,
// and never uses less isolation.
func (w *runResources) chooseExecutor(ctx context.Context, f *RunFlags) error {
	readable, err := places.Absolute(f.Readable)
	if err != nil {
		return fmt.Errorf("--readable: %w", err)
	}
	if f.Executor == "local" {
		local, err := local.New(local.WithReadable(readable...))
		if err != nil {
			return fmt.Errorf("--readable: %w", err)
		}
		w.runner.Executor = local
		return nil
	}
	if w.runner.Dependencies != "" {
		readable = append(readable, w.runner.Dependencies)
	}
	if f.Executor == places.Docker {
		box, err := f.Containers.Open(ctx, readable)
		if err != nil {
			return err
		}
		w.runner.Executor, w.open = box, append(w.open, box)
		return nil
	}
	box, err := sandbox.Open(ctx, sandbox.WithReadable(readable...))
	if err != nil && !errors.Is(err, sandbox.ErrUnavailable) {
		return fmt.Errorf("--readable: %w", err)
	}
	if err != nil {
		return fmt.Errorf("--executor sandbox: %w; --executor local runs commands as you, without isolation, and --executor docker in containers", err)
	}
	w.runner.Executor, w.open = box, append(w.open, box)
	return nil
}

// confinement returns one line on how commands are confined, and what is not enforced.
func (w *runResources) confinement() string {
	c := w.runner.Executor.Capabilities()
	var loose []string
	for name, is := range c.All() {
		if !is.Enforced {
			loose = append(loose, name)
		}
	}
	how := "commands run unconfined on this machine, as you"
	if box, ok := w.runner.Executor.(*docker.Executor); ok {
		r := box.Report()
		how = fmt.Sprintf("commands run in containers of %s %s (%s)", r.Engine, r.Version, r.Tier)
	} else if !c.Isolation.IsNone() {
		how = fmt.Sprintf("commands run in a sandbox (%s)", c.Isolation)
	}
	if len(loose) > 0 {
		how += "; not enforced: " + strings.Join(loose, ", ")
	}
	if len(c.Readable) > 0 {
		how += "; readable: " + strings.Join(c.Readable, ", ")
	}
	return how
}

// Close removes the workspaces and closes the artifacts. Call it when no command
// runs any more.
func (w *runResources) Close() error { return w.open.Close() }
