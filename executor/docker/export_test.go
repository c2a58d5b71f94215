package docker

import (
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// WithoutNamespaces makes Open behave as if the engine refused namespaces.
func WithoutNamespaces() Option {
	return func(c *config) error {
		c.withoutNamespaces = true
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
