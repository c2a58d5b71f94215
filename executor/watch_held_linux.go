package executor

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Bounds of what is looked at in one look.
const (
	maxHeld   = 1 << 16 // open files and threads
	maxTables = 16      // tables of open files that are compared with the next thread's
)

// held adds up the files of a file system that have no name any more and that
// processes hold, open or mapped into memory. Each counts once.
type held struct {
	device uint64
	used   space
	// hidden tells that they hold something that could not be looked at: open
	// files or mappings that are closed to the host, files that are mapped and
	// not open, of which only root can ask the size, descriptors on their way
	// through a socket, or in the table of an io_uring. A process that is just
	// starting or ending can look like that for a moment.
	hidden bool

	seen   map[uint64]bool
	looked int
	rings  int // that the process has open
}

// heldBy looks at processes, until stop is closed.
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

// process looks at the threads: each can have open files of its own, and the
// first can have ended before the others.
func (h *held) process(pid int) {
	var tables []int
	mapped := false
	h.rings = 0
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
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFSOCK:
			h.hidden = h.hidden || carriesFiles(dir, name)
		case 0: // no file: something of the kernel
			to, _ := os.Readlink(filepath.Join(dir, "fd", name))
			if to == ring {
				h.rings++
				h.hidden = h.hidden || fdinfo(dir, name, "UserFiles:") != "0"
			}
		}
	}
}

const ring = "anon_inode:[io_uring]"

// carriesFiles reports whether descriptors wait in a socket. Linux tells since
// 5.6, of sockets that wait to be accepted too.
func carriesFiles(dir, name string) bool {
	number := fdinfo(dir, name, "scm_fds:")
	return number != "" && number != "0"
}

// fdinfo returns what the kernel tells of an open file.
func fdinfo(dir, name, field string) string {
	text, _ := os.ReadFile(filepath.Join(dir, "fdinfo", name))
	_, rest, _ := bytes.Cut(text, []byte("\n"+field))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSpace(line))
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

// shares reports whether a process or thread has the same memory, or the same
// table of open files, as one of the others. Where the kernel does not tell,
// none has.
func shares(what uintptr, one int, others []int) bool {
	for _, other := range others {
		same, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(one), uintptr(other), what, 0, 0, 0)
		if errno == 0 && same == 0 {
			return true
		}
	}
	return false
}

// threads returns the numbers of the threads of a process, one that has ended
// among them if it is the first.
func threads(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return nil
	}
	if st.Nlink == 3 { // itself, its parent and one thread
		return []int{pid}
	}
	return numbersIn(dir)
}

func threadDir(pid, tid int) string {
	return "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid)
}

// lives reports whether a process or thread neither has ended nor is about to.
func lives(dir string) bool {
	const exiting = 4
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	// The name of the program, in parentheses, can hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 7 {
		return false
	}
	flags, _ := strconv.ParseUint(string(fields[6]), 10, 64)
	return flags&exiting == 0
}
