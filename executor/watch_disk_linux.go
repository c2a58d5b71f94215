package executor

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeSpace returns what is free on the file system of a directory; false when
// that is not known. A file system without a fixed number of files has 0 free.
func freeSpace(dir string) (space, bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return space{}, false
	}
	unit := int64(fs.Frsize)
	if unit == 0 {
		unit = int64(fs.Bsize)
	}
	// Bfree, not Bavail: what is kept for root can be filled by root.
	return space{int64(fs.Bfree) * unit, int64(fs.Ffree)}, true
}

// maxRemoved bounds how many open files are looked at.
const maxRemoved = 1 << 16

// removedFiles returns the space of files that processes hold open and that have
// no name any more, on the file system of a tree. Processes into which the host
// may not look have none.
func removedFiles(pids []int, tree *os.Root) int64 {
	top, err := tree.Lstat(".")
	if err != nil {
		return 0
	}
	on, _ := top.Sys().(*syscall.Stat_t)
	var st unix.Stat_t
	total, looked := int64(0), 0
	seen := map[uint64]bool{}
	for _, pid := range pids {
		fds, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
		if err != nil {
			continue
		}
		names, _ := fds.Readdirnames(maxRemoved - looked + 1)
		for _, name := range names {
			if unix.Fstatat(int(fds.Fd()), name, &st, 0) != nil {
				continue
			}
			if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 0 && st.Dev == on.Dev && !seen[st.Ino] {
				seen[st.Ino] = true
				total += st.Blocks * 512
			}
		}
		_ = fds.Close()
		if looked += len(names); looked > maxRemoved {
			break
		}
	}
	return total
}
