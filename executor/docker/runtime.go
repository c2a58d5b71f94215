package docker

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// boundaries are parts of the names of runtimes that isolate containers without the kernel of the
// machine. In such a container the runner needs no sandbox.
var boundaries = []string{"runsc", "gvisor", "kata"}

// isBoundary reports whether the runtime of the containers is one of boundaries, by its name or by the name
// of its program.
func (c *carrier) isBoundary() bool {
	name := cmp.Or(c.runtime, c.engine.runtime)
	return slices.ContainsFunc(boundaries, func(part string) bool {
		return strings.Contains(name, part) || strings.Contains(path.Base(c.engine.runtimes[name]), part)
	})
}

// checkRuntime returns an error for a runtime that Podman would ignore: it starts all containers by its own.
func (e *engine) checkRuntime(name string) error {
	if !e.isPodman || name == "" || name == e.runtime {
		return nil
	}
	return failure(nil, "no runtime %s: Podman starts all containers by %s: run its service with --runtime %[1]s, or set runtime in containers.conf", name, e.runtime)
}

// runtimeError returns the error for a runtime that the engine does not have.
func (e *engine) runtimeError(name string, err error) error {
	return failure(err, "no runtime %s: %s %s has %s", name, e.name, e.version, strings.Join(slices.Sorted(maps.Keys(e.runtimes)), ", "))
}

// lacksRuntime reports whether an error of Docker says that it does not have a runtime.
func lacksRuntime(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "unknown runtime") || strings.Contains(text, "unknown or invalid runtime")
}
