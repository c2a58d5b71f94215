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
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		var alive []int
		for _, p := range g.parts {
			alive = append(alive, p.kill()...)
		}
		if len(alive) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill processes %v of control group: %w", alive, ErrBusy)
		}
		time.Sleep(pause)
	}
}

// kill kills the processes of this part once and returns their numbers.
func (p part) kill() []int {
	if p.unified && p.write("cgroup.kill", 1) == nil {
		return p.members()
	}
	return signal(p.members, unix.SIGKILL)
}

// signal sends a signal to the members of a group and returns their numbers. The kernel can assign
// the number of a process that has ended to another one. So signal opens a descriptor of each
// process and then lists the members again. If the number is still in the list, the descriptor is
// that of a member.
func signal(members func() []int, sig unix.Signal) []int {
	first := members()
	if len(first) == 0 {
		return nil
	}
	descriptors := map[int]int{} // by process number
	for _, pid := range first[:min(len(first), maxHeld)] {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		descriptors[pid] = fd // -1: a kernel before 5.3, or too many descriptors
	}
	current := members()
	for pid, fd := range descriptors {
		switch {
		case !slices.Contains(current, pid):
		case fd >= 0:
			_ = unix.PidfdSendSignal(fd, sig, nil, 0)
		default:
			_ = unix.Kill(pid, sig)
		}
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	return current
}

// members returns the processes of this part and of the groups in it that this process can see. It
// leaves out this process, so that Kill cannot kill the host by mistake.
func (p part) members() []int {
	var all []int
	for _, dir := range append(p.below(), p.dir) {
		words, _ := readWords(dir, procsFile)
		for _, word := range words {
			// A process of another namespace has the number 0.
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 && pid != os.Getpid() {
				all = append(all, pid)
			}
		}
	}
	return all
}

// below returns the groups in this one, deepest first.
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
