package docker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// sweeper removes containers that hosts have left.
type sweeper struct {
	engine *engine
	self   instance
}

// run sweeps every ten minutes until ctx ends.
func (s sweeper) run(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = s.sweep(ctx) // the next one tries again
		}
	}
}

// sweep removes the containers whose process is gone, and those that have not run for ten minutes.
// A container that another host still uses stays. The error is that of the list.
func (s sweeper) sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	list, err := s.engine.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", instanceLabel),
	})
	if err != nil && s.engine.isPodman && strings.Contains(err.Error(), "container not known") {
		return nil // one was removed while Podman made the list; the next sweep tries again
	}
	if err != nil {
		return engineError(ctx, s.engine.host, "list containers", err)
	}
	for _, c := range list.Items {
		if s.isLeft(ctx, c) {
			_ = s.engine.remove(ctx, c.ID) // the next sweep tries again
		}
	}
	return nil
}

// isLeft reports whether nothing needs a container any more.
func (s sweeper) isLeft(ctx context.Context, c container.Summary) bool {
	by, ok := parseInstance(c.Labels[instanceLabel])
	switch {
	case !ok:
		return false
	case !slices.Contains(c.Names, "/"+nameOf(c.Labels[jobLabel])): // its image was made of a container, and has the labels
		return false
	case by.isOver(s.self):
		return true
	}
	// The runner of a live container has beats of its host, or ends by itself.
	switch c.State {
	case container.StateCreated, container.StateExited, container.StateDead:
	default:
		return false
	}
	since := time.Unix(c.Created, 0)
	if c.State != container.StateCreated {
		found, err := s.engine.ContainerInspect(ctx, c.ID, client.ContainerInspectOptions{})
		if err != nil || found.Container.State == nil {
			return false
		}
		if since, err = time.Parse(time.RFC3339Nano, found.Container.State.FinishedAt); err != nil {
			return false
		}
	}
	return time.Since(since) > leftFor
}
