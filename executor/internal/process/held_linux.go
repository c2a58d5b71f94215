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

// held adds up the files of a file system that have no name any more but that
// processes hold, open or mapped into memory. Each file counts once.
type held struct {
	device uint64
	used   space
	// hidden is a sign that the processes hold further files that could not be counted. Either
	// the host may not see their open files or mappings, or descriptors wait in a socket, or a
	// file is mapped but not open. Only root can ask for the size of the last. A process that
	// is just starting or ending can show such a sign for a moment.
	hidden bool

	seen   map[uint64]bool
	looked int
}

// heldBy looks at processes until stop is closed.
func heldBy(stop <-chan struct{}, pids []int, device uint64) held {
	h := held{device: device, seen: map[uint64]bool{}}
	for _, pid := range pids {
		if h.looked > maxHeld {
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

// process looks at every thread of a process: each can have open files of its
// own, and the first can have ended before the others.
func (h *held) process(pid int) {
	var tables []int
	mapped := false
	for _, tid := range threads(pid) {
		h.looked++
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
		if h.looked > maxHeld {
			return
		}
	}
}

// table looks at the open files of a thread.
func (h *held) table(open *os.File, dir string) {
	names, _ := open.Readdirnames(maxHeld - min(h.looked, maxHeld) + 1)
	h.looked += len(names)
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

// carriesFiles reports whether descriptors wait in a socket, or in sockets that
// wait to be accepted. Linux tells that since 5.6.
func carriesFiles(dir, name string) bool {
	text, _ := os.ReadFile(filepath.Join(dir, "fdinfo", name))
	return number(text, "scm_fds:") > 0
}

func (h *held) file(st *unix.Stat_t) {
	if st.Nlink == 0 && uint64(st.Dev) == h.device && !h.seen[st.Ino] {
		h.seen[st.Ino] = true
		h.used.bytes += st.Blocks * 512
		h.used.files++
	}
}

const (
	kcmpVM    = 1
	kcmpFiles = 2
)

// shares reports whether a process or thread shares its memory, or its table of
// open files, with one of the others. It is false where the kernel does not tell.
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

// lives reports whether a process or thread has neither ended nor is about to
// end.
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
