package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/remote"
)

// tier is how commands are isolated in a container.
type tier struct {
	name      string
	isolation executor.Isolation
	arguments []string // of the runner
}

// The tiers, strongest first.
var (
	namespacesTier = &tier{"namespaces", executor.IsolationNamespaces, []string{"--least", "namespaces", "--temp", strconv.Itoa(tempBytes)}}
	landlockTier   = &tier{"landlock", executor.IsolationContainer, []string{"--least", "landlock"}}
	runtimeTier    = &tier{"runtime", executor.IsolationContainer, []string{"--runtime-isolates"}}
)

// trialWorkspace is the name of the workspace of a trial.
const trialWorkspace = "workspace"

// tiersOf returns the tiers to try, in order.
func (c *carrier) tiersOf() []*tier {
	tiers := []*tier{namespacesTier}
	if c.least != executor.IsolationNamespaces {
		tiers = append(tiers, landlockTier)
		if c.isBoundary() {
			tiers = append(tiers, runtimeTier)
		}
	}
	return tiers
}

// tryTiers returns an executor with the strongest tier that works.
func (o *opening) tryTiers(ctx context.Context) (*remote.Executor, error) {
	var refused []string
	var last error
	for _, t := range o.tiersOf() {
		o.tier = t
		x, shell, err := o.try(ctx)
		if err == nil {
			o.report = Report{
				Engine: o.engine.name, Version: o.engine.version, Tier: t.name, Why: whyNot(refused), Shell: shell,
				Limits: o.limitsOf(x.Capabilities()),
			}
			return x, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if final := o.final(err); final != nil {
			return nil, final
		}
		last, refused = err, append(refused, t.name+": "+shortened(err))
	}
	return nil, failure(last, "no isolation in containers of %s %s: %s", o.engine.name, o.engine.version, whyNot(refused))
}

// final returns the error for a failure that does not depend on the tier, or nil.
func (o *opening) final(err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, `"/bin/sh": not found`): // says the sandbox
		return failure(err, "the image has no /bin/sh: commands of skills need it, and bash")
	case strings.Contains(text, "exec "+o.program+": "): // says the engine
		return noStart(o.program, err)
	case strings.Contains(text, "docker: no runner: "), strings.Contains(text, "docker: no runtime "), strings.Contains(text, " does not see the files of this machine: "),
		strings.Contains(text, " is not there any more: "), strings.Contains(text, " has no space left: make room "):
		return err
	}
	return nil
}

// shortened returns an error as a line that has room beside others.
func shortened(err error) string {
	text := strings.TrimPrefix(oneLine(err.Error()), "docker: ")
	if _, why, ok := strings.Cut(text, "no sandbox available: "); ok { // says executor/sandbox; advice follows
		text, _, _ = strings.Cut(why, ". ")
	}
	if len(text) > maxWhy {
		text = strings.ToValidUTF8(text[:maxWhy], "") + " ..."
	}
	return text
}

// shells are the shells that run commands, best first.
var shells = []string{"bash", "sh"}

// try runs a command in a container, and returns the executor and the shell that it found.
func (o *opening) try(ctx context.Context) (_ *remote.Executor, shell string, err error) {
	c := o.carrier // later tiers change o
	opts := []remote.Option{remote.WithIdle(o.idle), remote.WithWorkspaceAt(workspaceAt)}
	if c.tier == runtimeTier { // its kernel numbers files itself
		opts = append(opts, remote.WithMarks())
	}
	x, err := remote.New(&c, opts...)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	base := filepath.Join(os.TempDir(), o.self.fileName(trialPrefix))
	if err := os.Mkdir(base, 0o700); err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	dir := filepath.Join(base, trialWorkspace) // its parent belongs to this process
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, x.Release(dir)) }()
	for _, shell := range shells {
		result, err := x.Run(ctx, executor.Command{
			Args: []string{shell, "-c", "exit 42"}, Workspace: dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		})
		switch {
		case err != nil:
			return nil, "", err
		case result.ExitCode == 42:
			return x, shell, nil
		case result.ExitCode != 127:
			return nil, "", fmt.Errorf("a trial ended with %s, code %d: %s", result.Reason, result.ExitCode, result.Stderr)
		}
	}
	return nil, "", errors.New("the image has neither bash nor sh")
}
