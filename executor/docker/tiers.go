package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	namespacesTier = &tier{"namespaces", executor.IsolationNamespaces, []string{"--least", "namespaces"}}
	landlockTier   = &tier{"landlock", executor.IsolationContainer, []string{"--least", "landlock"}}
	runtimeTier    = &tier{"runtime", executor.IsolationContainer, []string{"--runtime-isolates"}}
)

// tiersOf returns the tiers to try, in order.
func (c config) tiersOf() []*tier {
	var tiers []*tier
	if !c.withoutNamespaces {
		tiers = append(tiers, namespacesTier)
	}
	if c.least != executor.IsolationNamespaces {
		tiers = append(tiers, landlockTier)
		if isBoundary(c.runtime) {
			tiers = append(tiers, runtimeTier)
		}
	}
	return tiers
}

// isBoundary reports whether a runtime isolates containers without the kernel of the machine. In
// such a container the runner needs no sandbox.
func isBoundary(runtime string) bool {
	return strings.Contains(runtime, "runsc") || strings.Contains(runtime, "kata")
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
		if errors.Is(err, errFinal) {
			return nil, err
		}
		last, refused = err, append(refused, fmt.Sprintf("%s: %s", t.name, strings.TrimPrefix(oneLine(err.Error()), "docker: ")))
	}
	return nil, failure(last, "no isolation in containers of %s %s: %s", o.engine.name, o.engine.version, whyNot(refused))
}

// errFinal is wrapped by errors that do not depend on the tier.
var errFinal = errors.New("no tier changes that")

// shells are the shells that commands need, best first.
var shells = []string{"bash", "sh"}

// try runs a command in a container, and returns the executor and the shell that it found.
func (o *opening) try(ctx context.Context) (_ *remote.Executor, shell string, err error) {
	c := o.carrier // later tiers change o
	x, err := remote.New(&c, remote.WithIdle(o.idle), remote.WithWorkspaceAt(workspaceAt))
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	base, err := os.MkdirTemp("", "satchel-docker-")
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	dir := filepath.Join(base, "workspace") // its parent belongs to this process
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
	return nil, "", failure(errFinal, "the image has neither bash nor sh: commands of skills need one")
}
