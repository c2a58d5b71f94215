package places

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/executor/docker"
)

// Docker is the value of --executor for which the other flags are.
const Docker = "docker"

// Containers are the flags of --executor docker.
type Containers struct {
	Image      string `placeholder:"REF" help:"Image of --executor docker: its name, tag or id. docs/containers.md says how to make one."`
	DockerHost string `name:"docker-host" placeholder:"URL" help:"Engine of --executor docker, Docker or Podman. Default: DOCKER_HOST, else the socket of Docker."`
	Runner     string `placeholder:"PATH" help:"satchel-runner of --executor docker, on this machine. Default: SATCHEL_RUNNER, else the file beside satchel, else that of the image."`
	Runtime    string `placeholder:"NAME" help:"Runtime of --executor docker, such as runsc. Default: that of the engine."`
}

// ErrContainers wraps an error of an engine, image or runner. The program exits with cli.ExitFailed,
// because the arguments were right.
var ErrContainers = errors.New("containers cannot be used")

// openError is an ErrContainers whose text is that of the cause.
type openError struct{ error }

// Unwrap returns the cause.
func (e openError) Unwrap() error { return e.error }

// Is reports whether target is ErrContainers.
func (openError) Is(target error) bool { return target == ErrContainers }

// Check returns a usage error if flags are missing or are for another executor.
func (f *Containers) Check(name string) error {
	if name == Docker {
		if f.Image == "" {
			return fmt.Errorf("%w: --executor docker needs --image REF: an image with the programs of your skills, and bash or sh; docs/containers.md has one in ten lines", cli.ErrUsage)
		}
		return nil
	}
	for _, flag := range []struct{ name, value string }{
		{"--image", f.Image}, {"--docker-host", f.DockerHost}, {"--runner", f.Runner}, {"--runtime", f.Runtime},
	} {
		if flag.value != "" {
			return fmt.Errorf("%w: %s is for --executor docker", cli.ErrUsage, flag.name)
		}
	}
	return nil
}

// Open opens the executor that the flags describe. Commands can read the directories of readable.
// The error wraps cli.ErrStart or ErrContainers.
func (f *Containers) Open(ctx context.Context, readable []string) (*docker.Executor, error) {
	shown, err := Absolute(readable)
	if err != nil {
		return nil, fmt.Errorf("%w: --readable: %w", cli.ErrStart, err)
	}
	box, err := docker.Open(ctx, f.Image, docker.WithHost(f.DockerHost), docker.WithRunner(f.Runner), docker.WithRuntime(f.Runtime), docker.WithReadable(shown...))
	if err != nil {
		return nil, openError{err}
	}
	return box, nil
}
