package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ownHierarchies returns a function that finds a controller below the groups of this
// process.
func ownHierarchies() (func(controller string) (hierarchy, error), error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	mounted, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	memberships, mounts := parseMemberships(string(groups)), parseMounts(string(mounted))
	return func(controller string) (hierarchy, error) {
		places, err := placesOf(memberships, mounts, controller)
		if err != nil {
			return hierarchy{}, err
		}
		var errs []error
		for _, h := range places {
			if err := h.check(controller); err != nil {
				errs = append(errs, err)
				continue
			}
			return h, nil
		}
		return hierarchy{}, joinErrors(errs)
	}, nil
}

// placesOf returns the directories of a process's own group for a controller, in version 1 if that
// has the controller, otherwise in version 2. If there are several mounts, the last one comes first,
// because it may hide the others.
func placesOf(memberships []membership, mounts []mount, controller string) ([]hierarchy, error) {
	in := slices.IndexFunc(memberships, func(m membership) bool { return slices.Contains(m.controllers, controller) })
	unified := in < 0
	if unified {
		if in = slices.IndexFunc(memberships, func(m membership) bool { return m.unified }); in < 0 {
			return nil, errors.New("the kernel does not have this controller")
		}
	}
	var places []hierarchy
	isMounted := false
	for _, m := range slices.Backward(mounts) {
		if m.unified != unified || !unified && !slices.Contains(m.options, controller) {
			continue
		}
		isMounted = true
		if dir, ok := m.at(memberships[in].group); ok {
			places = append(places, hierarchy{dir: dir, unified: unified})
		}
	}
	switch {
	case len(places) > 0:
		return places, nil
	case isMounted:
		return nil, fmt.Errorf("the own group %s is outside of what is mounted", memberships[in].group)
	}
	return nil, errors.New("it is not mounted: mount the cgroup file system at /sys/fs/cgroup")
}

// at returns the directory of a group in a mount.
func (m mount) at(group string) (string, bool) {
	rest, inside := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !inside || rest != "" && rest[0] != '/' || slices.Contains(strings.Split(rest, "/"), "..") {
		return "", false
	}
	return path.Join(m.point, rest), true
}

// delegatedHierarchy returns the hierarchy of a directory of version 2 that the host has named.
func delegatedHierarchy(dir, controller string) (hierarchy, error) {
	if !filepath.IsAbs(dir) {
		return hierarchy{}, fmt.Errorf("directory %q is not absolute", dir)
	}
	h := hierarchy{dir: filepath.Clean(dir), unified: true}
	return h, h.check(controller)
}

// check returns an error if groups with a controller cannot be created here.
func (h hierarchy) check(controller string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(h.dir, &fs); err != nil {
		return fmt.Errorf("%s: %w", h.dir, err)
	}
	if want := magic(h.unified); int64(fs.Type) != want {
		return fmt.Errorf("%s is not a directory of cgroup v%d", h.dir, version(h.unified))
	}
	if err := h.checkDelegation(controller); err != nil {
		return err
	}
	return h.checkWritable()
}

// magic returns the type of the file system.
func magic(unified bool) int64 {
	if unified {
		return unix.CGROUP2_SUPER_MAGIC
	}
	return unix.CGROUP_SUPER_MAGIC
}

func version(unified bool) int {
	if unified {
		return 2
	}
	return 1
}

// checkDelegation returns an error if child groups do not get a controller.
func (h hierarchy) checkDelegation(controller string) error {
	if !h.unified {
		return nil
	}
	enabled, err := readWords(h.dir, "cgroup.subtree_control")
	if err != nil || slices.Contains(enabled, controller) {
		return err
	}
	available, err := readWords(h.dir, "cgroup.controllers")
	if err != nil {
		return err
	}
	if !slices.Contains(available, controller) {
		return fmt.Errorf("%s does not have this controller: add it to cgroup.subtree_control of the directory above, if it is there", h.dir)
	}
	return fmt.Errorf("%s does not give this controller to child groups: move its processes into a child group and write +%s to its cgroup.subtree_control", h.dir, controller)
}

// checkWritable returns an error if this process has no permission to create groups. In version 2, moving
// a process needs write permission for the group above both its old and its new one.
func (h hierarchy) checkWritable() error {
	if err := unix.Faccessat(unix.AT_FDCWD, h.dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("%s is not writable for user %d: %w", h.dir, os.Geteuid(), err)
	}
	procs := filepath.Join(h.dir, procsFile)
	if !h.unified {
		return nil
	}
	if err := unix.Faccessat(unix.AT_FDCWD, procs, unix.W_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("%s is not writable for user %d: %w", procs, os.Geteuid(), err)
	}
	return nil
}
