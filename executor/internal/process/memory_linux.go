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
// Files in memory can be hidden, see heldFiles. If two looks show a sign of that, the check does as
// diskCheck: it charges the command for all such memory that the machine has gained since the first
// look.
//
// Between two looks a command can exceed the limit, up to what RLIMIT_DATA leaves to each of
// its processes.
type memoryCheck struct {
	limit int64
	pids  func() []int

	hasLooked   bool
	firstShared int64     // shared memory of the machine at the first look
	files       heldFiles // files in memory
	filesAt     time.Time // when hiddenExceed found files
	wasHidden   bool      // files.hidden then
}

// Memory returns the check of the processes that pids returns, for an executor without a cgroup. It
// returns nil if there is no limit.
func Memory(limit int64, pids func() []int) Check {
	if limit < 0 || pids == nil {
		return nil
	}
	return &memoryCheck{limit: min(limit, maxMemory), pids: pids}
}

// look implements Check.
func (m *memoryCheck) look(stop <-chan struct{}) (executor.Reason, time.Duration) {
	start := time.Now()
	if !m.hasLooked {
		m.hasLooked, m.firstShared = true, machineShared()
	}
	pids := m.pids()
	if m.hiddenExceed(stop, pids, start) {
		return executor.ReasonOOM, 0
	}
	// This sum is cheap and never too low: shared pages count for each process.
	total := m.files.used.bytes
	for _, pid := range pids {
		total += residentOf(pid)
	}
	if total > m.limit {
		m.files = findHeldFiles(stop, pids, memoryDevice()) // some may have been closed
		if total = proportional(stop, pids, m.files); total > m.limit {
			return executor.ReasonOOM, 0
		}
	}
	tick := memoryTick
	if total < m.limit/2 {
		tick = memoryCalm
	}
	return "", max(tick, (memoryShare-1)*time.Since(start))
}

// hiddenExceed looks for files in memory, and reports whether hidden ones exceed the limit and a
// margin. To look is expensive. So it looks only if the machine has gained shared memory, and
// otherwise every second, because another program may have freed some.
func (m *memoryCheck) hiddenExceed(stop <-chan struct{}, pids []int, now time.Time) bool {
	more := machineShared() - m.firstShared
	if more <= m.limit/memoryShare && now.Sub(m.filesAt) < filesEvery {
		return false
	}
	wasHidden := m.wasHidden
	m.files, m.filesAt = findHeldFiles(stop, pids, memoryDevice()), now
	m.wasHidden = m.files.hidden
	return wasHidden && m.wasHidden && more > m.limit+max(m.limit/marginShare, minMargin)
}

// close implements Check.
func (m *memoryCheck) close() {}

// memoryDevice returns the device number of the kernel's file system for memfd, shared memory and
// System V segments. It returns 0 if it is unknown.
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

// machineShared returns how many bytes of the machine's memory are shared or in files.
func machineShared() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	return kilobytes(text, "Shmem:")
}

// memoryDir returns a directory of /proc that describes the memory of a process, with its status. It
// is that of the first thread, or of another one if the first has ended. It returns "" if the
// process has ended.
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

// residentOf returns the private memory of a process in bytes, or 0 if the process has ended.
func residentOf(pid int) int64 {
	_, status := memoryDir(pid)
	return residentBytes(status)
}

// residentBytes returns the private memory that a status file of /proc shows.
func residentBytes(status []byte) int64 {
	return kilobytes(status, "RssAnon:") + kilobytes(status, "RssShmem:") + kilobytes(status, "VmSwap:") + kilobytes(status, "VmPTE:")
}

// proportional adds up the memory of processes. It divides shared pages among the processes that
// share them. Files in memory count in full, and their mappings do not count again.
func proportional(stop <-chan struct{}, pids []int, files heldFiles) int64 {
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

// mappedOf returns how many bytes of the files in memory a process has mapped.
func mappedOf(dir string, files heldFiles) (total int64) {
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

// kilobytes returns a field of a file such as /proc/self/status in bytes, or 0 if it is missing.
func kilobytes(text []byte, field string) int64 { return number(text, field) << 10 }

// number returns a field of a file of /proc, or 0 if it is missing.
func number(text []byte, field string) int64 {
	_, rest, found := bytes.Cut(append([]byte("\n"), text...), []byte("\n"+field))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" kB"))), 10, 64)
	return n
}
