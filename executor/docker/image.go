package docker

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/moby/moby/client"
)

// image is what Open found out about an image. The id does not change when somebody moves the tag.
type image struct {
	id      string
	ref     string   // as the caller names it
	env     []string // the names of the variables that it sets
	volumes []string // the paths that it declares as volumes
}

// resolve finds the image with a name, a tag or an id.
func (e *engine) resolve(ctx context.Context, ref string) (image, error) {
	if ref == "" {
		return image{}, failure(nil, "no image named: build one with bash, and name it")
	}
	found, err := e.ImageInspect(ctx, ref)
	if isGone(err) {
		return image{}, failure(err, "image %s is not there: docker pull %[1]s", ref)
	}
	if err != nil {
		return image{}, engineError(ctx, e.host, "look at image "+ref, err)
	}
	if found.Os != "" && found.Os != "linux" {
		return image{}, failure(nil, "image %s is for %s: satchel needs one for linux", ref, found.Os)
	}
	i := image{id: found.ID, ref: ref}
	if found.Config != nil {
		for _, entry := range found.Config.Env {
			name, _, _ := strings.Cut(entry, "=")
			i.env = append(i.env, name)
		}
		i.volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
	}
	return i, nil
}

// runnersOfImage are the places at which an image may have the runner.
var runnersOfImage = []string{"/satchel-runner", "/usr/local/bin/satchel-runner"}

// runnerOf returns the path of the runner in an image, or "" if it has none. It creates a container
// that never starts, because an engine shows files of containers alone.
func (e *engine) runnerOf(ctx context.Context, i image, self instance) (string, error) {
	job := newJob()
	s := spec{name: nameOf(job), image: i, args: []string{runnerAt}, labels: labelsOf(self, job), tier: landlockTier}
	made, err := e.ContainerCreate(ctx, s.options())
	if err != nil {
		return "", engineError(ctx, e.host, "look for a runner in the image", err)
	}
	defer func() { _ = e.remove(context.WithoutCancel(ctx), made.ID) }()
	for _, path := range runnersOfImage {
		_, err := e.ContainerStatPath(ctx, made.ID, client.ContainerStatPathOptions{Path: path})
		if err == nil {
			return path, nil
		}
		if !isGone(err) {
			return "", engineError(ctx, e.host, "look for a runner in the image", err)
		}
	}
	return "", nil
}
