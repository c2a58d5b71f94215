package family

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
)

// Family is a program that leads a session and a process group of its own, with all its
// descendants. The marker identifies descendants that have left the session.
type Family struct {
	Leader int    // the program's process
	Marker uint64 // RLIMIT_LOCKS of all descendants; 0 if it could not be set
	Since  Moment // a moment before the program started a process
}

// Terminate asks the processes of the group to end.
func (f *Family) Terminate() {
	_ = unix.Kill(-f.Leader, unix.SIGTERM) // ESRCH: no process is left to ask
}

// KillAll kills the group, which the kernel does in one step. Then it kills the processes that have
// left the group, until it finds none, for up to KillWait. The caller must not have reaped the
// program.
func (f *Family) KillAll() error {
	_ = unix.Kill(-f.Leader, unix.SIGKILL)
	return f.killUntilNone()
}

// KillMarked kills the processes that have the marker, whatever their leader is. The caller uses it
// in place of KillAll if the leader was reaped or its number is unknown.
func (f *Family) KillMarked() error {
	return (&Family{Leader: noLeader, Marker: f.Marker, Since: f.Since}).killUntilNone()
}

// noLeader is a number that no process has.
const noLeader = -1

// killUntilNone kills members until it finds none, for up to KillWait.
func (f *Family) killUntilNone() error {
	deadline := time.Now().Add(KillWait)
	for pause := minKillPause; ; pause = min(2*pause, maxKillPause) {
		alive := f.killMembers()
		if len(alive) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v: %w", alive, ErrStuck)
		}
		time.Sleep(pause)
	}
}

// killMembers kills the members that are still alive and returns their numbers. Without /proc it
// finds none.
func (f *Family) killMembers() []int {
	var killed []int
	for pid := range f.members() {
		if f.killOne(pid) {
			killed = append(killed, pid)
		}
	}
	return killed
}

// members yields the processes that descend from the leader. It may yield one
// twice.
func (f *Family) members() iter.Seq[int] {
	return func(yield func(int) bool) {
		for pid := range StartedSince(f.Since) {
			if pid != f.Leader && f.owns(pid) && !yield(pid) {
				return
			}
		}
	}
}

// killOne kills a process that was a member a moment ago. It returns false if the process has ended.
// It opens a descriptor before it checks membership again, so that the signal cannot reach another
// process to which the kernel has assigned the same number since.
func (f *Family) killOne(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return false
	}
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
	}
	if !f.owns(pid) || hasEnded(pid) {
		return false
	}
	if err == nil {
		return !errors.Is(unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0), unix.ESRCH)
	}
	return !errors.Is(unix.Kill(pid, unix.SIGKILL), unix.ESRCH) // a kernel before 5.3
}

// owns reports whether a process descends from the leader.
func (f *Family) owns(pid int) bool {
	if session, err := unix.Getsid(pid); err == nil && session == f.Leader {
		return true
	}
	return f.Marker != 0 && lockLimit(pid) == f.Marker
}

// lockLimit returns the hard limit on locks of a process, or 0 if it is unknown. The system call is
// fast, but works only for the same user. Every user may read the file.
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

// hasEnded reports whether a process has ended. A zombie has: it only waits for its parent.
func hasEnded(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	// The program's name, in parentheses, can contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 18 || fields[0][0] != 'Z' && fields[0][0] != 'X' {
		return false
	}
	// Field 0 is the state of the first thread. Others can run without it.
	threads, _ := strconv.Atoi(string(fields[17]))
	return threads <= 1
}

// Capability returns how reliably KillAll ends all processes of a command.
func Capability() executor.Capability {
	if _, err := os.Stat("/proc/self/limits"); err != nil {
		return executor.Capability{Note: "no /proc: processes that leave the group are not found"}
	}
	return executor.Capability{Enforced: true, Note: "by session and by a mark that children inherit; a program that sets out to hide can"}
}

// PIDs returns the numbers of the program and its descendants.
func (f *Family) PIDs() []int {
	all := slices.Sorted(f.members())
	return append([]int{f.Leader}, slices.Compact(all)...)
}

// SetMarker gives a process a random number that its descendants inherit and that other processes
// can read. It is the limit on file locks, which Linux has not enforced since 2.4.25. SetMarker
// returns 0 if that does not work.
func SetMarker(pid int) uint64 {
	var old unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &old) != nil || old.Max < 1<<32 {
		return 0
	}
	marker := NewMarker(old.Max)
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: marker, Max: marker}, nil) != nil || lockLimit(pid) != marker {
		return 0
	}
	return marker
}

// NewMarker returns a random number from minMarker to most or MaxMarker.
func NewMarker(most uint64) uint64 {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return minMarker + binary.NativeEndian.Uint64(random[:])%(min(most, MaxMarker)-minMarker)
}
