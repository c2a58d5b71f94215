package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Kill kills all processes of the group, including those that start meanwhile,
// and returns when none is left. The error wraps ErrBusy if some are left after
// two seconds. Zombies do not count. A group that was removed has no processes.
func (g *Group) Kill() error {
	for _, p := range g.parts {
		if !p.unified && p.has(pids) {
			_ = p.write("pids.max", 0) // from here on no process can fork
		}
	}
	deadline := time.Now().Add(killWait)
	for pause := 200 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		var left []int
		for _, p := range g.parts {
			left = append(left, p.kill()...)
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill processes %v of control group: %w", left, ErrBusy)
		}
		time.Sleep(pause)
	}
}

// kill sends the signal once to every process of this part and returns them.
func (p part) kill() []int {
	if p.unified && p.write("cgroup.kill", 1) == nil {
		return p.members()
	}
	return signal(p.members, unix.SIGKILL)
}

// signal sends a signal to the members of a group and returns their numbers. When a process
// ends, its number can pass to another one. So signal opens a descriptor of each process and
// then lists the members again. A number that is still listed is that of the opened process, or
// of one that has ended.
func signal(members func() []int, sig unix.Signal) []int {
	first := members()
	if len(first) == 0 {
		return nil
	}
	held := map[int]int{}
	for _, pid := range first[:min(len(first), maxHeld)] {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		held[pid] = fd // -1: a kernel before 5.3, or no descriptors left
	}
	still := members()
	for pid, fd := range held {
		switch {
		case !slices.Contains(still, pid):
		case fd >= 0:
			_ = unix.PidfdSendSignal(fd, sig, nil, 0)
		default:
			_ = unix.Kill(pid, sig)
		}
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	return still
}

// members returns the processes of this part and of the groups in it. It leaves
// out this process, which only a mistake could have put there, so that such a
// mistake does not kill the host. A process that this one cannot see has the
// number 0.
func (p part) members() []int {
	var all []int
	for _, dir := range append(p.below(), p.dir) {
		words, _ := readWords(dir, procsFile)
		for _, word := range words {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 && pid != os.Getpid() {
				all = append(all, pid)
			}
		}
	}
	return all
}

// below returns the groups that were made in this one, deepest first.
func (p part) below() []string {
	var all []string
	queue := []string{p.dir}
	for len(queue) > 0 && len(all) < maxBelow {
		dir := queue[0]
		queue = queue[1:]
		var st unix.Stat_t
		if unix.Lstat(dir, &st) != nil || st.Nlink == 2 {
			continue // it contains no directories
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() {
				queue = append(queue, filepath.Join(dir, e.Name()))
				all = append(all, filepath.Join(dir, e.Name()))
			}
		}
	}
	slices.Reverse(all)
	return all
}
