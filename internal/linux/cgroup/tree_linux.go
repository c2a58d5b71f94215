package cgroup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The controllers, by the kernel's names.
const (
	memory = "memory"
	pids   = "pids"
)

// hierarchy is a place where groups are made. Version 1 has one for each
// controller, or one for both; version 2 has one for all.
type hierarchy struct {
	dir         string   // the group below which groups are made
	unified     bool     // version 2
	controllers []string // the controllers that are used here
}

// Tree makes groups. It does not change once it is open: its methods may be
// called concurrently.
type Tree struct {
	hierarchies []hierarchy
	missing     []string // why each missing controller is not there
	self        process
}

// Open finds where groups can be made, and makes nothing. If dir is empty that is
// below this process's own group, in version 1, version 2 or a mixture of both.
// Otherwise dir is a directory of version 2 that the host has delegated to this
// process. One of the two controllers is enough. The error wraps ErrUnavailable.
func Open(dir string) (*Tree, error) {
	self, err := thisProcess()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	t := &Tree{self: self}
	look := func(controller string) (hierarchy, error) { return delegated(dir, controller) }
	if dir == "" {
		if look, err = own(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	var missing []error
	for _, controller := range []string{memory, pids} {
		h, err := look(controller)
		if err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", controller, err))
			continue
		}
		t.add(h, controller)
	}
	if len(t.hierarchies) == 0 {
		return nil, fmt.Errorf("%w: %w; %s", ErrUnavailable, joined(missing), advice)
	}
	for _, err := range missing {
		t.missing = append(t.missing, err.Error())
	}
	return t, nil
}

const advice = `run as root, or have a cgroup v2 directory delegated to this process ` +
	`(systemd: Delegate=memory pids and DelegateSubgroup=host) and name it`

// add records that a controller is used in a hierarchy.
func (t *Tree) add(h hierarchy, controller string) {
	for i := range t.hierarchies {
		if t.hierarchies[i].dir == h.dir {
			t.hierarchies[i].controllers = append(t.hierarchies[i].controllers, controller)
			return
		}
	}
	h.controllers = []string{controller}
	t.hierarchies = append(t.hierarchies, h)
}

// Has reports which limits the groups of this tree can have.
func (t *Tree) Has() (hasMemory, hasPids bool) {
	for _, h := range t.hierarchies {
		hasMemory = hasMemory || h.has(memory)
		hasPids = hasPids || h.has(pids)
	}
	return hasMemory, hasPids
}

func (h hierarchy) has(controller string) bool { return slices.Contains(h.controllers, controller) }

// Describe says in one line what was found where, what is missing, and why.
func (t *Tree) Describe() string {
	var parts []string
	for _, h := range t.hierarchies {
		version := "v1"
		if h.unified {
			version = "v2"
		}
		parts = append(parts, fmt.Sprintf("%s by cgroup %s in %s", strings.Join(h.controllers, " and "), version, h.dir))
	}
	for _, why := range t.missing {
		parts = append(parts, "without "+why)
	}
	return strings.Join(parts, "; ")
}

// joined is errors.Join in one line.
func joined(errs []error) error {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return oneLine{strings.Join(texts, "; "), errors.Join(errs...)}
}

type oneLine struct {
	text string
	errs error
}

func (e oneLine) Error() string { return e.text }
func (e oneLine) Unwrap() error { return e.errs }
