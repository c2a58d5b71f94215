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

// Body returns a container with labels, which was not started.
func Body(image string, labels map[string]string) client.ContainerCreateOptions {
	return client.ContainerCreateOptions{Image: image, Config: &container.Config{Cmd: []string{"/bin/true"}, Labels: labels}}
}
