package docker

import (
	"context"
	"errors"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// remove kills and removes a container, by id or name, and returns when it is gone.
func (e *engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	_, err := e.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsConflict(err) { // the engine is removing it already
		err = e.waitRemoved(ctx, id)
	}
	if err == nil || isGone(err) {
		return nil
	}
	return engineError(ctx, e.host, "remove container "+id, err)
}

// waitRemoved waits until the engine has removed a container.
func (e *engine) waitRemoved(ctx context.Context, id string) error {
	wait := e.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionRemoved})
	select {
	case end := <-wait.Result:
		if end.Error != nil {
			return errors.New(end.Error.Message)
		}
		return nil
	case err := <-wait.Error:
		return err
	}
}
