package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
)

// commands says where the commands of skills run: in the sandbox of each runtime, or in containers.
type commands struct {
	executor, image, host, runner, runtime string
	readable                               []string
}

// flags declares the flags of commands.
func (c *commands) flags() {
	flag.StringVar(&c.executor, "executor", "sandbox", "what runs commands: sandbox, or docker, in containers of -image")
	flag.StringVar(&c.image, "image", "", "the image of -executor docker")
	flag.StringVar(&c.host, "docker-host", "", "the engine of -executor docker; DOCKER_HOST by default")
	flag.StringVar(&c.runner, "runner", "", "satchel-runner on this machine, for -executor docker")
	flag.StringVar(&c.runtime, "runtime", "", "the runtime of -executor docker, such as runsc")
	flag.Func("readable", "a directory that commands in containers may read; may be repeated", func(dir string) error {
		c.readable = append(c.readable, dir)
		return nil
	})
}

// check returns an error about the flags.
func (c *commands) check() error {
	switch {
	case c.executor != "sandbox" && c.executor != "docker":
		return fmt.Errorf("-executor %q: want sandbox or docker", c.executor)
	case c.executor == "docker" && c.image == "":
		return fmt.Errorf("-executor docker needs -image REF")
	case c.executor == "sandbox" && c.image+c.host+c.runner+c.runtime+strings.Join(c.readable, "") != "":
		return fmt.Errorf("-image, -docker-host, -runner, -runtime and -readable are for -executor docker")
	}
	return nil
}

// open opens the executor, for all tenants. It is nil if each runtime opens its own sandbox.
func (c *commands) open(ctx context.Context) (executor.Executor, func() error, error) {
	if c.executor != "docker" {
		return nil, func() error { return nil }, nil
	}
	box, err := docker.Open(ctx, c.image, docker.WithHost(c.host), docker.WithRunner(c.runner), docker.WithRuntime(c.runtime), docker.WithReadable(c.readable...))
	if err != nil {
		return nil, nil, err // not a nil *docker.Executor
	}
	return box, box.Close, nil
}
