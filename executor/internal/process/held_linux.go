package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/internal/family"
)

// heldFiles adds up the removed files of a file system that processes hold open or mapped into
// memory. Each file counts once.
type heldFiles struct {
	device uint64
	used   space
	// hidden is a sign that the processes hold more files, which could not be counted. Either
	// the host may not see their open files or mappings, or descriptors wait in a socket, or a
	// file is mapped but not open. Only root can ask for the size of the last. A process that
	// is just starting or ending can show such a sign for a moment.
	hidden bool

	seen    map[uint64]bool // counted files, by inode
	lookups int             // open files and threads that were looked at
}

// findHeldFiles looks at processes until stop is closed.
func findHeldFiles(stop <-chan struct{}, pids []int, device uint64) heldFiles {
	h := heldFiles{device: device, seen: map[uint64]bool{}}
	for _, pid := range pids {
		if h.lookups > maxHeld {
			h.hidden = true
			break
		}
		select {
		case <-stop:
			return h
		default:
		}
		h.process(pid)
	}
	return h
}

// process looks at every thread of a process: each can have open files of its own. The first thread
// can have ended before the others.
func (h *heldFiles) process(pid int) {
	var tables []int
	mapped := false
	for _, tid := range threads(pid) {
		h.lookups++
		if shares(kcmpFiles, tid, tables[:min(len(tables), maxTables)]) {
			continue
		}
		dir := threadDir(pid, tid)
		open, err := os.Open(dir + "/fd")
		if err != nil {
			h.hidden = h.hidden || errors.Is(err, fs.ErrPermission) && lives(dir)
			continue
		}
		h.table(open, dir)
		_ = open.Close()
		tables = append(tables, tid)
		mapped = mapped || h.mappings(pid, dir)
		if h.lookups > maxHeld {
			return
		}
	}
}

// table looks at the open files of a thread. open is its directory fd in /proc.
func (h *heldFiles) table(open *os.File, dir string) {
	names, _ := open.Readdirnames(maxHeld - min(h.lookups, maxHeld) + 1)
	h.lookups += len(names)
	var st unix.Stat_t
	for _, name := range names {
		if err := unix.Fstatat(int(open.Fd()), name, &st, 0); err != nil {
			h.hidden = h.hidden || errors.Is(err, fs.ErrPermission)
			continue
		}
		h.file(&st)
		if st.Mode&unix.S_IFMT == unix.S_IFSOCK {
			h.hidden = h.hidden || carriesFiles(dir, name)
		}
	}
}

// carriesFiles reports whether descriptors wait in a socket, or in connections that it has not
// accepted yet. Linux reports that since 5.6.
func carriesFiles(dir, name string) bool {
	text, _ := os.ReadFile(filepath.Join(dir, "fdinfo", name))
	return number(text, "scm_fds:") > 0
}

// file counts a file if it is a removed one of the file system.
func (h *heldFiles) file(st *unix.Stat_t) {
	if st.Nlink == 0 && uint64(st.Dev) == h.device && !h.seen[st.Ino] {
		h.seen[st.Ino] = true
		h.used.bytes += st.Blocks * 512
		h.used.files++
	}
}

// The arguments of kcmp(2) for memory and for tables of open files.
const (
	kcmpVM    = 1
	kcmpFiles = 2
)

// shares reports whether a process or thread shares its memory, or its table of open files, with one
// of the others. It returns false if the kernel does not report it.
func shares(what uintptr, one int, others []int) bool {
	for _, other := range others {
		same, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(one), uintptr(other), what, 0, 0, 0)
		if errno == 0 && same == 0 {
			return true
		}
	}
	return false
}

// threads returns the numbers of the threads of a process. The first thread is
// included even if it has ended.
func threads(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return nil
	}
	if st.Nlink == 3 { // itself, its parent and one thread
		return []int{pid}
	}
	return family.NumbersIn(dir)
}

func threadDir(pid, tid int) string {
	return "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid)
}

// lives reports whether a process or thread has not ended and is not about to end.
func lives(dir string) bool {
	const exiting = 4
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	// The program's name, in parentheses, can contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 7 {
		return false
	}
	flags, _ := strconv.ParseUint(string(fields[6]), 10, 64)
	return flags&exiting == 0
}
