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

// hierarchy is a directory in which groups are created. Version 1 has one for each controller, or
// one for both; version 2 has one for all.
type hierarchy struct {
	dir         string   // the directory of the group above
	unified     bool     // version 2
	controllers []string // the controllers that are used here
}

// Tree creates groups. It does not change after Open, so its methods may be called concurrently.
type Tree struct {
	hierarchies []hierarchy
	missing     []string // why controllers are missing, each with its name
	self        process
}

// Open finds out where groups can be created, and creates none. If dir is empty, that is below this
// process's own group, in version 1, version 2 or a mixture of both. Otherwise dir is a directory of
// version 2 that the host has delegated to this process. One of the two controllers is enough. The
// error wraps ErrUnavailable.
func Open(dir string) (*Tree, error) {
	self, err := thisProcess()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	t := &Tree{self: self}
	find := func(controller string) (hierarchy, error) { return delegatedHierarchy(dir, controller) }
	if dir == "" {
		if find, err = ownHierarchies(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	var missing []error
	for _, controller := range []string{memory, pids} {
		h, err := find(controller)
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

// Describe returns one line with the directories of the controllers, and why others are missing.
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

// oneLine is several errors with a text of one line.
type oneLine struct {
	text string
	errs error
}

func (e oneLine) Error() string { return e.text }
func (e oneLine) Unwrap() error { return e.errs }

// prefix begins the name of every group that a Tree creates.
const prefix = "satchel-"

// process identifies a process for all time. The kernel can reuse a number, but not with the same
// start, and a number is valid in one namespace only.
type process struct {
	pid       int
	start     uint64 // in ticks since the machine started
	namespace uint64
}

// groupName returns a new name for a group of the process. It says nothing about the command.
func (p process) groupName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%s%d-%d-%d-%s", prefix, p.pid, p.start, p.namespace, hex.EncodeToString(random[:]))
}

// ownerOf returns the process that has created the group with that name.
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

// startOf returns when a process was started, and whether it has ended and is a zombie. A Go program
// ends with its first thread, so the state of that is enough.
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

// hasEnded reports whether the process has certainly ended.
func (p process) hasEnded() bool {
	if errors.Is(unix.Kill(p.pid, 0), unix.ESRCH) {
		return true
	}
	start, ended, err := startOf(p.pid)
	return err == nil && (ended || start != p.start)
}

// Sweep removes groups whose creators have ended without removing them, and kills the processes in
// them. It leaves the groups of running processes alone. It also leaves those of processes in other
// namespaces, which it cannot see.
func (t *Tree) Sweep() error {
	var errs []error
	for _, h := range t.hierarchies {
		entries, err := os.ReadDir(h.dir)
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep control groups: %w", err))
		}
		for _, e := range entries {
			owner, ok := ownerOf(e.Name())
			if !ok || !e.IsDir() || owner.namespace != t.self.namespace || !owner.hasEnded() {
				continue
			}
			orphan := Group{[]part{{h, filepath.Join(h.dir, e.Name())}}}
			errs = append(errs, orphan.Kill(), orphan.Remove())
		}
	}
	return errors.Join(errs...)
}
