package process

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

	"github.com/satchel-go/satchel/executor"
)

// memoryCheck bounds the memory of all processes of a command together. It counts anonymous
// pages, shared memory, and files in memory (memfd) that they hold, in RAM or in swap, and page
// tables. The page cache, unmapped files on a tmpfs, pipes and sockets do not count. Pages that
// several processes share, as after a fork, count once; if the host may not look that closely,
// they count for each process.
//
// Memory without a name can be hidden, see held. In that case the check charges all that the
// machine has gained of such memory since the first look, under the same conditions as
// diskCheck.
//
// Between two looks a command can exceed the limit, up to what RLIMIT_DATA leaves to each of
// its processes.
type memoryCheck struct {
	limit int64
	pids  func() []int

	begun  bool
	shared int64 // shared memory of the machine at the first look
	held   held  // result of the last look
	found  time.Time
	hidden bool // held.hidden at the last look
}

// Memory returns the check of the processes that pids returns, for an executor
// without a control group. Without a limit there is nothing to check, and the
// result is nil.
func Memory(limit int64, pids func() []int) Check {
	if limit < 0 || pids == nil {
		return nil
	}
	return &memoryCheck{limit: min(limit, maxMemory), pids: pids}
}

// look implements Check.
func (m *memoryCheck) look(stop <-chan struct{}) (executor.Reason, time.Duration) {
	start := time.Now()
	if !m.begun {
		m.begun, m.shared = true, machineShared()
	}
	pids := m.pids()
	if m.lost(stop, pids, start) {
		return executor.ReasonOOM, 0
	}
	// Cheap, and never too low: shared pages count for each process.
	total := m.held.used.bytes
	for _, pid := range pids {
		total += residentOf(pid)
	}
	if total > m.limit {
		m.held = heldBy(stop, pids, memoryDevice()) // some may be gone
		if total = proportional(stop, pids, m.held); total > m.limit {
			return executor.ReasonOOM, 0
		}
	}
	tick := memoryTick
	if total < m.limit/2 {
		tick = memoryCalm
	}
	return "", max(tick, (memoryShare-1)*time.Since(start))
}

// lost looks for files in memory. That is expensive, so it does so when the
// machine has gained some, and otherwise every second, because somebody else may
// have freed some. It reports whether files that cannot be looked at count, and
// are too much.
func (m *memoryCheck) lost(stop <-chan struct{}, pids []int, now time.Time) bool {
	more := machineShared() - m.shared
	if more <= m.limit/memoryShare && now.Sub(m.found) < time.Second {
		return false
	}
	again := m.hidden
	m.held, m.found = heldBy(stop, pids, memoryDevice()), now
	m.hidden = m.held.hidden
	return again && m.hidden && more > m.limit+max(m.limit/marginShare, minMargin)
}

// close implements Check.
func (m *memoryCheck) close() {}

// memoryDevice is the file system of memory without a name: memfd, memory that
// processes share, and System V segments. It is 0 if not known.
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

// machineShared returns how much memory of the machine is shared or in files.
func machineShared() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	return kilobytes(text, "Shmem:")
}

// memoryDir returns a directory of /proc that describes the memory of a process,
// with its status: that of its first thread, or of another one if the first has
// ended. It returns "" if the process is gone.
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

// residentOf returns the private memory of a process, 0 if it is gone.
func residentOf(pid int) int64 {
	_, status := memoryDir(pid)
	return residentBytes(status)
}

func residentBytes(status []byte) int64 {
	return kilobytes(status, "RssAnon:") + kilobytes(status, "RssShmem:") + kilobytes(status, "VmSwap:") + kilobytes(status, "VmPTE:")
}

// proportional adds up the memory of processes. It divides shared pages among the
// processes that share them. Files in memory count in full, and their mappings do
// not count again.
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
		own := residentBytes(status)
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

// mappedOf returns how much of the files in memory a process has mapped.
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
			total += kilobytes(text, "Pss:") - kilobytes(text, "Anonymous:") // without the process's own pages of a private mapping
		}
	}
	return max(total, 0)
}

// kilobytes returns a field of a file such as /proc/self/status in bytes, 0 if it
// is missing.
func kilobytes(text []byte, field string) int64 { return number(text, field) << 10 }

// number returns a field of a file of /proc, 0 if it is missing.
func number(text []byte, field string) int64 {
	_, rest, found := bytes.Cut(append([]byte("\n"), text...), []byte("\n"+field))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" kB"))), 10, 64)
	return n
}
