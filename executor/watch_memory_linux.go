package executor

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
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

// memoryCheck bounds the memory that all processes of a command have together:
// their anonymous pages, those that they share as memory, files in memory
// (memfd) that they hold, in RAM or in swap, and their page tables. The page
// cache, files on a tmpfs that nobody has mapped, pipes and sockets do not
// count. Pages that several processes share, as after a fork, count once; where
// the host may not look that closely, once for each of them.
//
// Memory without a name can be hidden, see held. Then all that the machine has
// more of it than at the first look counts, under the same conditions as in
// diskCheck.
//
// A command can have more than the limit between two looks, up to what
// RLIMIT_DATA leaves to each of its processes.
type memoryCheck struct {
	limit int64
	pids  func() []int

	begun  bool
	shared int64 // of the machine, at the first look
	held   held  // what was found last
	found  time.Time
	hidden bool // then
}

// newMemoryCheck looks after the memory of the processes that pids returns, for
// an executor without a control group. There is nothing to check, and the
// result is nil, without a limit.
func newMemoryCheck(limit int64, pids func() []int) check {
	if limit == Unlimited || pids == nil {
		return nil
	}
	return &memoryCheck{limit: min(limit, mostMemory), pids: pids}
}

const mostMemory = 1 << 60 // leaves room to add to

// look implements check.
func (m *memoryCheck) look(stop <-chan struct{}) (Reason, time.Duration) {
	start := time.Now()
	if !m.begun {
		m.begun, m.shared = true, machineShared()
	}
	pids := m.pids()
	if m.lost(stop, pids, start) {
		return ReasonOOM, 0
	}
	// Cheap, and never too little: shared pages count for each process.
	total := m.held.used.bytes
	for _, pid := range pids {
		total += residentOf(pid)
	}
	if total > m.limit {
		m.held = heldBy(stop, pids, memoryDevice()) // some can be gone
		if total = proportional(stop, pids, m.held); total > m.limit {
			return ReasonOOM, 0
		}
	}
	tick := memoryTick
	if total < m.limit/2 {
		tick = memoryCalm
	}
	return "", max(tick, (memoryShare-1)*time.Since(start))
}

// lost looks for files in memory, which is dear, when the machine has got more of
// them, and else every second: somebody else may have freed some. It reports
// whether those that cannot be looked at count, and are too much.
func (m *memoryCheck) lost(stop <-chan struct{}, pids []int, now time.Time) bool {
	more := machineShared() - m.shared
	if more <= m.limit/memoryShare && now.Sub(m.found) < time.Second {
		return false
	}
	again := m.hidden
	m.held, m.found = heldBy(stop, pids, memoryDevice()), now
	m.hidden = m.held.hidden
	return again && m.hidden && more > m.limit+max(m.limit/marginShare, leastMargin)
}

// close implements check.
func (m *memoryCheck) close() {}

// memoryDevice is the file system of memory that has no name: of memfd, of what
// processes share, and of System V segments. It is 0 when it is not known.
var memoryDevice = sync.OnceValue(func() uint64 {
	fd, err := unix.MemfdCreate("", unix.MFD_CLOEXEC)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return uint64(st.Dev)
})

// machineShared returns what the machine has of memory that is in files, or
// shared.
func machineShared() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	return kilobytes(text, "Shmem:")
}

// memoryDir returns a directory of /proc that tells of the memory of a process,
// with its status: that of its first thread, or of another one when that has
// ended; "" when the process is gone.
func memoryDir(pid int) (dir string, status []byte) {
	dir = "/proc/" + strconv.Itoa(pid)
	status, _ = os.ReadFile(dir + "/status")
	if len(status) == 0 || bytes.Contains(status, []byte("\nVmPTE:")) || bytes.Contains(status, []byte("\nThreads:\t1\n")) {
		return dir, status
	}
	for _, tid := range threads(pid) {
		dir = threadDir(pid, tid)
		if status, _ = os.ReadFile(dir + "/status"); bytes.Contains(status, []byte("\nVmPTE:")) {
			return dir, status
		}
	}
	return "", nil
}

// residentOf returns the private memory of a process, 0 when it is gone.
func residentOf(pid int) int64 {
	_, status := memoryDir(pid)
	return resident(status)
}

func resident(status []byte) int64 {
	return kilobytes(status, "RssAnon:") + kilobytes(status, "RssShmem:") + kilobytes(status, "VmSwap:") + kilobytes(status, "VmPTE:")
}

// proportional adds up the memory of processes and divides shared pages among
// those that have them. Files in memory count as a whole, and where they are
// mapped not again.
func proportional(stop <-chan struct{}, pids []int, files held) int64 {
	total := files.used.bytes
	var counted []int
	for _, pid := range pids {
		select {
		case <-stop:
			return 0
		default:
		}
		dir, status := memoryDir(pid)
		own := resident(status)
		if own == 0 {
			continue
		}
		thread, _ := strconv.Atoi(filepath.Base(dir))
		if shares(kcmpVM, thread, counted) {
			continue
		}
		counted = append(counted, thread)
		rollup, err := os.ReadFile(dir + "/smaps_rollup")
		if err == nil && bytes.Contains(rollup, []byte("\nPss_Anon:")) { // since Linux 5.3
			own = kilobytes(rollup, "Pss_Anon:") + kilobytes(rollup, "Pss_Shmem:") + kilobytes(rollup, "SwapPss:") + kilobytes(status, "VmPTE:")
			if len(files.seen) > 0 {
				own -= mappedOf(dir, files)
			}
		}
		total += own
	}
	return total
}

// mappedOf returns the part that a process has of files in memory.
func mappedOf(dir string, files held) (total int64) {
	file, err := os.Open(dir + "/smaps")
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	inside := false
	lines := bufio.NewScanner(io.LimitReader(file, maxSmaps))
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) > 0 && (line[0] < 'A' || line[0] > 'Z') {
			m, ok := parseMapping(line)
			inside = ok && m.device == files.device && files.seen[m.inode]
			continue
		}
		if inside {
			text := append([]byte("\n"), line...)
			total += kilobytes(text, "Pss:") - kilobytes(text, "Anonymous:") // pages of its own, from a private mapping
		}
	}
	return max(total, 0)
}

// maxSmaps bounds what is read about the memory of a process.
const maxSmaps = 64 << 20

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
