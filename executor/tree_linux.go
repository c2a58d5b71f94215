package executor

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// treeWait is how long killAll goes on finding processes.
const treeWait = 2 * time.Second

// terminate asks the processes of the group to end.
func (c *process) terminate() {
	_ = unix.Kill(-c.proc.Pid, unix.SIGTERM) // ESRCH: there is nobody to ask
}

// killAll kills the group, which the kernel does at one stroke, and then what
// left it, until nothing is found. The program must not have been reaped.
func (c *process) killAll() error {
	_ = unix.Kill(-c.proc.Pid, unix.SIGKILL)
	deadline := time.Now().Add(treeWait)
	for pause := 500 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left := c.killStrays()
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v: %w", left, ErrStuck)
		}
		time.Sleep(pause)
	}
}

// killStrays kills the processes that belong to the child and still live, and
// returns their numbers. Without /proc there are none to be found.
func (c *process) killStrays() []int {
	var found []int
	for pid := range c.family() {
		if c.killOne(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// family yields the processes that descend from the child, without itself. It
// can yield one twice.
func (c *process) family() iter.Seq[int] {
	return func(yield func(int) bool) {
		for pid := range startedSince(c.since) {
			if pid != c.proc.Pid && c.owns(pid) && !yield(pid) {
				return
			}
		}
	}
}

// killOne kills a process that the child owned a moment ago; false when it is
// gone. The descriptor is taken before the second look, so that the signal
// cannot hit another process that got the same number.
func (c *process) killOne(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return false
	}
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	if !c.owns(pid) || hasEnded(pid) {
		return false
	}
	if err == nil {
		return !errors.Is(unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0), unix.ESRCH)
	}
	return !errors.Is(unix.Kill(pid, unix.SIGKILL), unix.ESRCH) // a kernel before 5.3
}

// owns reports whether the process descends from the child.
func (c *process) owns(pid int) bool {
	if session, err := unix.Getsid(pid); err == nil && session == c.proc.Pid {
		return true
	}
	return c.marker != 0 && lockLimit(pid) == c.marker
}

// lockLimit returns the hard limit on locks of a process, 0 when it is not
// known. The call is quick but wants the same user; the file is for everybody.
func lockLimit(pid int) uint64 {
	var limit unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit)
	if err == nil {
		return limit.Max
	}
	if !errors.Is(err, unix.EPERM) {
		return 0
	}
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Max file locks"); ok {
			if fields := strings.Fields(rest); len(fields) > 1 {
				hard, _ := strconv.ParseUint(fields[1], 10, 64) // "unlimited" is 0 here
				return hard
			}
		}
	}
	return 0
}

// hasEnded reports whether nothing of a process runs any more: it is gone, or
// waits to be reaped by a parent, which is not ours to hurry.
func hasEnded(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	// The name of the program, in parentheses, can hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 18 || fields[0][0] != 'Z' && fields[0][0] != 'X' {
		return false
	}
	// That is the state of the first thread, without which others can go on.
	threads, _ := strconv.Atoi(string(fields[17]))
	return threads <= 1
}

func treeCapability() Capability {
	if _, err := os.Stat("/proc/self/limits"); err != nil {
		return Capability{Note: "no /proc: processes that leave the group are not found"}
	}
	return Capability{true, "by session and by a mark that children inherit; a program that sets out to hide can"}
}
