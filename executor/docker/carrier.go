package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/remote"
)

// carrier starts runners in containers. It implements remote.Carrier.
type carrier struct {
	config
	engine  *engine
	image   image
	tier    *tier
	program string // the runner's path in the container
	profile string // of seccomp; "" is the engine's
	shown   []mount.Mount
	user    user
	self    instance
}

// Open implements remote.Carrier.
func (c *carrier) Open(ctx context.Context, j remote.Job) (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	s := c.spec(newJob(), j.Limits)
	if j.Workspace == "" { // to look for programs
		return c.engine.start(ctx, s)
	}
	space, err := openSpace(j, c.user)
	if err != nil {
		return nil, err
	}
	s.mounts = append([]mount.Mount{bind(space.source, workspaceAt, false)}, s.mounts...)
	opened, err := c.engine.start(ctx, s)
	if closeErr := space.close(); closeErr != nil && opened != nil {
		return nil, errors.Join(closeErr, opened.Close())
	}
	return opened, err
}

// newJob returns the name of a job.
func newJob() string { return strings.ToLower(rand.Text()) }

// spec returns what a container is.
func (c *carrier) spec(job string, limits executor.Limits) spec {
	s := spec{
		name: nameOf(job), image: c.image, tier: c.tier,
		args: append([]string{c.program}, c.arguments()...),
		user: c.user.in, usernsOf: c.user.mode, runtime: c.runtime,
		isPodman: c.engine.isPodman, maxProcs: maxProcesses(),
		mounts: slices.Clone(c.shown),
		labels: labelsOf(c.self, job), limits: limits, cpus: c.cpus, memory: c.memory,
	}
	if c.tier == namespacesTier && !c.plainProfile {
		s.profile = c.profile
	}
	return s
}

// start creates a container, connects to it and starts it.
func (e *engine) start(ctx context.Context, s spec) (_ io.ReadWriteCloser, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	defer func() {
		if err == nil {
			return
		}
		// The engine may have created it, even if it did not say so.
		if left := e.remove(context.WithoutCancel(ctx), s.name); left != nil && left.Error() != err.Error() {
			err = errors.Join(err, left)
		}
	}()
	made, err := e.create(ctx, s.options())
	if err != nil {
		return nil, engineError(ctx, e.host, "create a container", e.createError(s, err))
	}
	attached, err := e.ContainerAttach(ctx, made.ID, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		if e.isPodman { // it prepares the container to be attached, and says only at the start what was wrong
			if _, startErr := e.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); startErr != nil {
				err = startError(s, startErr)
			}
		}
		return nil, engineError(ctx, e.host, "connect to a container", err)
	}
	if _, err := e.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		attached.Close()
		return nil, engineError(ctx, e.host, "start a container", startError(s, err))
	}
	return newConn(e, made.ID, attached.HijackedResponse), nil
}

// create creates a container.
func (e *engine) create(ctx context.Context, options client.ContainerCreateOptions) (client.ContainerCreateResult, error) {
	if e.isPodman && e.isRootless {
		e.creating.Lock()
		defer e.creating.Unlock()
	}
	return e.ContainerCreate(ctx, options)
}

// createError returns a better error if the engine does not have the image any more, a runtime, or a file that
// this process has seen.
func (e *engine) createError(s spec, err error) error {
	text := err.Error()
	if s.runtime != "" && lacksRuntime(err) {
		return e.runtimeError(s.runtime, err)
	}
	if isGone(err) && strings.Contains(strings.ToLower(text), "no such image") {
		return failure(err, "image %s is not there any more: docker pull %[1]s, and start this program again", s.image.ref)
	}
	if strings.Contains(text, "bind source path does not exist") || strings.Contains(text, "statfs /") {
		return failure(err, "%s does not see the files of this machine: it runs in a VM or on another machine: run this program there: %s", e.host, shortened(err))
	}
	return err
}

// startError returns a better error if the engine cannot execute the runner.
func startError(s spec, err error) error {
	text := err.Error()
	if strings.Contains(text, s.args[0]) && (strings.Contains(text, "no such file") || strings.Contains(text, "exec format") || strings.Contains(text, "permission denied")) {
		return noStart(s.args[0], err)
	}
	return err
}

// noStart returns the error for a runner that the engine cannot execute.
func noStart(program string, err error) error {
	return failure(err, "no runner: %s does not run in the image: build it with CGO_ENABLED=0 for the engine's processor, executable for all: %s", program, shortened(err))
}

// arguments returns the arguments of the runner.
func (c *carrier) arguments() []string {
	args := slices.Clone(c.tier.arguments)
	for _, dir := range c.readable {
		args = append(args, "--readable", dir)
	}
	return args
}

// Capabilities implements remote.Carrier.
func (c *carrier) Capabilities() executor.Capabilities {
	by := fmt.Sprintf("a container of %s %s", c.engine.name, c.engine.version)
	held := executor.Capability{Enforced: true, Note: by}
	caps := executor.Capabilities{
		Isolation: c.tier.isolation, WorkspaceAt: workspaceAt, Readable: c.readable,
		Filesystem: held, Links: held, Network: held, HostProcesses: held, Privileges: held, SystemCalls: held,
		Memory: held, CPU: held, Processes: held, FileBytes: held, Descriptors: held,
		KillGroup: held, KillTree: held, DiesWithHost: held, Terminal: held, Pipes: held, Loopback: held,
	}
	if c.tier == namespacesTier {
		caps.SkillsAt, caps.TempAt = skillsAt, tempAt
	}
	return caps
}
