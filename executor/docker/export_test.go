package docker

import (
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// WithoutNamespaces makes the engine refuse namespaces, by its own seccomp profile.
func WithoutNamespaces() Option {
	return func(c *config) error {
		c.plainProfile = true
		return nil
	}
}

// InstanceLabel and PointPrefix name what belongs to an Executor.
const (
	InstanceLabel = instanceLabel
	PointPrefix   = pointPrefix
)

// LandlockThreads is what a container without namespaces may have beyond the processes of its first command.
const LandlockThreads = landlockThreads

// Body returns a container with the labels of an Executor, which was not started.
func Body(image, name, instance, job string) client.ContainerCreateOptions {
	labels := map[string]string{instanceLabel: instance, jobLabel: job}
	return client.ContainerCreateOptions{Name: name, Image: image, Config: &container.Config{Cmd: []string{"/bin/true"}, Labels: labels}}
}
