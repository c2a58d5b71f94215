package executor

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// How often the memory is looked at: more seldom while half of the limit is not
// used, and a twentieth of the time at most.
const (
	memoryTick  = 50 * time.Millisecond
	memoryCalm  = 200 * time.Millisecond
	memoryShare = 20
)

// memoryCheck bounds the private memory that all processes of a command have
// together: their anonymous pages and those that they share as memory, in RAM
// or in swap. The page cache and files on a tmpfs that nobody has mapped do not
// count. Pages that several processes share, as after a fork, count once; where
// the host may not look that closely, once for each of them.
//
// A command can have more than the limit between two looks, up to what
// RLIMIT_DATA leaves to each of its processes.
type memoryCheck struct {
	limit int64
	pids  func() []int
}

// newMemoryCheck looks after the memory of the processes that pids returns, for
// an executor without a control group. There is nothing to check, and the
// result is nil, without a limit.
func newMemoryCheck(limit int64, pids func() []int) check {
	if limit == Unlimited || pids == nil {
		return nil
	}
	return &memoryCheck{limit, pids}
}

// look implements check.
func (m *memoryCheck) look(stop <-chan struct{}) (Reason, time.Duration) {
	start := time.Now()
	pids := m.pids()
	// Cheap, and never too little: shared pages count for each process.
	total := int64(0)
	for _, pid := range pids {
		total += residentOf(pid)
	}
	if total > m.limit {
		if total = proportional(stop, pids); total > m.limit {
			return ReasonOOM, 0
		}
	}
	tick := memoryTick
	if total < m.limit/2 {
		tick = memoryCalm
	}
	return "", max(tick, (memoryShare-1)*time.Since(start))
}

// close implements check.
func (m *memoryCheck) close() {}

// residentOf returns the private memory of a process, 0 when it is gone.
func residentOf(pid int) int64 {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return kilobytes(status, "RssAnon:") + kilobytes(status, "RssShmem:") + kilobytes(status, "VmSwap:")
}

// proportional adds up the memory of processes and divides shared pages among
// those that have them.
func proportional(stop <-chan struct{}, pids []int) int64 {
	total := int64(0)
	var counted []int
	for _, pid := range pids {
		select {
		case <-stop:
			return 0
		default:
		}
		own := residentOf(pid)
		if own == 0 || sharesMemory(pid, counted) {
			continue
		}
		counted = append(counted, pid)
		rollup, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		if err == nil && bytes.Contains(rollup, []byte("\nPss_Anon:")) { // since Linux 5.3
			own = kilobytes(rollup, "Pss_Anon:") + kilobytes(rollup, "Pss_Shmem:") + kilobytes(rollup, "SwapPss:")
		}
		total += own
	}
	return total
}

// sharesMemory reports whether a process has one memory with one of the others,
// as a child has with its parent after vfork and before exec.
func sharesMemory(pid int, others []int) bool {
	const kcmpVM = 1
	for _, other := range others {
		same, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(pid), uintptr(other), kcmpVM, 0, 0, 0)
		if errno == 0 && same == 0 {
			return true
		}
	}
	return false
}

// kilobytes returns a field of a file such as /proc/self/status in bytes, 0 when
// it is not there.
func kilobytes(text []byte, field string) int64 {
	_, rest, found := bytes.Cut(text, []byte("\n"+field))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" kB"))), 10, 64)
	return n << 10
}
