package cgroup

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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
	look := func(controller string) (hierarchy, error) { return delegatedHierarchy(dir, controller) }
	if dir == "" {
		if look, err = ownHierarchies(); err != nil {
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
		return nil, fmt.Errorf("%w: %w; %s", ErrUnavailable, joinErrors(missing), advice)
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

// joinErrors is errors.Join in one line.
func joinErrors(errs []error) error {
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

// prefix begins the name of every group that is made here.
const prefix = "satchel-"

// process identifies a process for all time: the number alone can be used again,
// but not with the same start, and it is valid in one namespace only.
type process struct {
	pid       int
	start     uint64 // in ticks since the machine started
	namespace uint64
}

// groupName returns a new name. It reveals nothing about what runs in the group.
func (p process) groupName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%s%d-%d-%d-%s", prefix, p.pid, p.start, p.namespace, hex.EncodeToString(random[:]))
}

// ownerOf returns the process that gave a group its name.
func ownerOf(name string) (p process, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	fields := strings.Split(rest, "-")
	if !ok || len(fields) != 4 || len(fields[3]) != 16 {
		return process{}, false
	}
	var errs [3]error
	p.pid, errs[0] = strconv.Atoi(fields[0])
	p.start, errs[1] = strconv.ParseUint(fields[1], 10, 64)
	p.namespace, errs[2] = strconv.ParseUint(fields[2], 10, 64)
	return p, p.pid > 0 && errors.Join(errs[:]...) == nil
}

// thisProcess returns the calling process.
func thisProcess() (process, error) {
	pid := os.Getpid()
	if self, err := os.Readlink("/proc/self"); err != nil {
		return process{}, err
	} else if self != strconv.Itoa(pid) {
		return process{}, fmt.Errorf("/proc is that of another process namespace: this process is %d and not %s", pid, self)
	}
	start, _, err := startOf(pid)
	if err != nil {
		return process{}, fmt.Errorf("find out when this process started: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return process{}, fmt.Errorf("find out the own namespace: %w", err)
	}
	return process{pid, start, st.Ino}, nil
}

// startOf returns when a process was started, and whether it is a zombie. No thread of a Go
// program outlives the first one, so if that has ended, all have.
func startOf(pid int) (start uint64, ended bool, err error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false, err
	}
	// The program's name, in parentheses, can contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, false, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return start, fields[0][0] == 'Z' || fields[0][0] == 'X', err
}

// gone reports whether the process has certainly ended.
func (p process) gone() bool {
	if errors.Is(unix.Kill(p.pid, 0), unix.ESRCH) {
		return true
	}
	start, ended, err := startOf(p.pid)
	return err == nil && (ended || start != p.start)
}

// Sweep kills what runs in groups that processes made and did not remove before
// they ended, and removes these groups. It leaves the groups of living processes
// alone, and those of processes in other namespaces, about which nothing is
// known.
func (t *Tree) Sweep() error {
	var errs []error
	for _, h := range t.hierarchies {
		entries, err := os.ReadDir(h.dir)
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep control groups: %w", err))
		}
		for _, e := range entries {
			owner, ours := ownerOf(e.Name())
			if !ours || !e.IsDir() || owner.namespace != t.self.namespace || !owner.gone() {
				continue
			}
			left := Group{[]part{{h, filepath.Join(h.dir, e.Name())}}}
			errs = append(errs, left.Kill(), left.Remove())
		}
	}
	return errors.Join(errs...)
}
