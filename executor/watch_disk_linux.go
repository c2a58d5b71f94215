package executor

import (
	"os"
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

// removedFiles returns what files take that processes hold and that have no name
// any more, on the file system of a tree, and whether something is hidden.
func removedFiles(stop <-chan struct{}, pids []int, tree *os.Root) (used space, hidden bool) {
	top, err := tree.Lstat(".")
	if err != nil {
		return space{}, false
	}
	on, ok := top.Sys().(*syscall.Stat_t)
	if !ok {
		return space{}, false
	}
	h := heldBy(stop, pids, uint64(on.Dev))
	return h.used, h.hidden
}
