package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// procsFile lists the processes of a group. Writing the number of a process to it moves the process
// into the group.
const procsFile = "cgroup.procs"

// Group is the group of one run. Its methods may be called concurrently.
type Group struct {
	parts []part
}

// part is the directory of a group in one hierarchy.
type part struct {
	hierarchy
	dir string
}

// New creates a group with limits, only in the hierarchies that the limits need. If it fails, it
// removes what it has created. The error wraps ErrUnavailable if the tree has no controller for a
// limit.
func (t *Tree) New(l Limits) (*Group, error) {
	if hasMemory, hasPids := t.Has(); l.Memory > 0 && !hasMemory || l.Processes > 0 && !hasPids {
		return nil, fmt.Errorf("make control group: %w: %s", ErrUnavailable, t.Describe())
	}
	name := t.self.groupName()
	g := &Group{}
	for _, h := range t.hierarchiesFor(l) {
		p := part{h, filepath.Join(h.dir, name)}
		if err := unix.Mkdir(p.dir, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make control group %s: %w", p.dir, err), g.Remove())
		}
		g.parts = append(g.parts, p)
		if err := p.limit(l); err != nil {
			return nil, errors.Join(fmt.Errorf("limit control group: %w", err), g.Remove())
		}
	}
	return g, nil
}

// hierarchiesFor returns the hierarchies that have a controller for one of the limits. If there is no
// limit it returns any one, so that the group can be killed.
func (t *Tree) hierarchiesFor(l Limits) []hierarchy {
	var all []hierarchy
	for _, h := range t.hierarchies {
		if l.Memory > 0 && h.has(memory) || l.Processes > 0 && h.has(pids) {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		all = t.hierarchies[len(t.hierarchies)-1:] // the one with pids, which is cheaper
	}
	return all
}

// limit writes the limits that belong to this part.
func (p part) limit(l Limits) error {
	if l.Processes > 0 && l.Processes <= maxPids && p.has(pids) {
		if err := p.write("pids.max", l.Processes); err != nil {
			return err
		}
	}
	if l.Memory <= 0 || !p.has(memory) {
		return nil
	}
	if p.unified {
		return errors.Join(
			p.write("memory.max", l.Memory),
			ignoreMissing(p.write("memory.swap.max", 0)),
			ignoreMissing(p.write("memory.oom.group", 1)),
		)
	}
	if err := p.write("memory.limit_in_bytes", l.Memory); err != nil {
		return err
	}
	err := p.write("memory.memsw.limit_in_bytes", l.Memory)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		err = ignoreMissing(p.write("memory.swappiness", 0)) // the kernel does not count swap
	}
	return err
}

// Join opens a file for each part of the group, which the caller closes. A process that writes "0"
// into each of them, in one write, joins the group, whatever its rights. So the caller can pass the
// files to a child. In version 1 the writing thread joins, with the processes that it starts later.
// In version 2 the whole process joins; for that the kernel waits for all processors once, which
// takes 10 ms or more on a quiet machine.
func (g *Group) Join() ([]*os.File, error) {
	var files []*os.File
	for _, p := range g.parts {
		name := "tasks"
		if p.unified {
			name = procsFile
		}
		fd, err := unix.Open(filepath.Join(p.dir, name), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
			return nil, fmt.Errorf("open control group %s: %w", p.dir, err)
		}
		files = append(files, os.NewFile(uintptr(fd), name))
	}
	return files, nil
}

// Remove removes the group and the groups in it, after their processes have ended. The kernel can
// take a moment to notice the end of a process; if the group stays busy, the error wraps ErrBusy. A
// second call does nothing.
func (g *Group) Remove() error {
	var errs []error
	for _, p := range g.parts {
		errs = append(errs, p.remove())
	}
	return errors.Join(errs...)
}

func (p part) remove() error {
	deadline := time.Now().Add(removeWait)
	for pause := minPause; ; pause *= 2 {
		err := rmdir(p.dir)
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.EBUSY):
			return fmt.Errorf("remove control group %s: %w", p.dir, err)
		case time.Now().After(deadline):
			return fmt.Errorf("remove control group %s: %w", p.dir, ErrBusy)
		}
		for _, below := range p.below() {
			_ = rmdir(below)
		}
		time.Sleep(pause)
	}
}

// OOM reports whether the kernel killed a process of the group because of its memory. In version 2
// the kernel then kills the whole group, in version 1 that process alone. The caller calls it before
// Remove. Kernels before 4.13 do not count such kills. There OOM reports whether the limit was ever
// reached, although the kernel may have found memory then.
func (g *Group) OOM() (bool, error) {
	for _, p := range g.parts {
		if !p.has(memory) {
			continue
		}
		file := "memory.oom_control"
		if p.unified {
			file = "memory.events"
		}
		words, err := readWords(p.dir, file)
		if err != nil {
			return false, fmt.Errorf("look for killed processes: %w", err)
		}
		for i := 0; i+1 < len(words); i += 2 {
			if words[i] == "oom_kill" {
				return words[i+1] != "0", nil
			}
		}
		words, err = readWords(p.dir, "memory.failcnt")
		return len(words) > 0 && words[0] != "0", err
	}
	return false, nil
}

// write writes a number into a file of the group.
func (p part) write(name string, value int64) error {
	return writeFile(filepath.Join(p.dir, name), strconv.FormatInt(value, 10))
}

// ignoreMissing returns nil for the error of a file that this kernel does not have.
func ignoreMissing(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}
