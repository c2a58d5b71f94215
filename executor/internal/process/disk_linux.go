package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// freeSpace returns the free space of a directory's file system; false if it is
// not known. A file system without a fixed number of files has 0 files free.
func freeSpace(dir string) (space, bool) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return space{}, false
	}
	unit := int64(fs.Frsize)
	if unit == 0 {
		unit = int64(fs.Bsize)
	}
	// Bfree, not Bavail: root can fill what is reserved for root.
	return space{int64(fs.Bfree) * unit, int64(fs.Ffree)}, true
}

// removedFiles returns the space of files without a name that processes still
// hold, on the file system of a tree, and whether some files are hidden.
func removedFiles(stop <-chan struct{}, pids []int, tree *os.File) (used space, hidden bool) {
	h := heldBy(stop, pids, idOf(tree).device)
	return h.used, h.hidden
}

// writtenBy returns how many bytes processes have written, to anything, including
// their children that have ended and were waited for. It is false if the kernel
// does not tell that for each of them. A command whose processes have all ended
// writes nothing more, so its total is known wherever the kernel tells such
// totals at all.
func writtenBy(pids []int) (total int64, known bool) {
	if len(pids) == 0 {
		_, err := os.Stat("/proc/self/io")
		return 0, err == nil
	}
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid)
		text, err := os.ReadFile(dir + "/io")
		if err != nil {
			if lives(dir) {
				return 0, false
			}
			continue
		}
		// write_bytes counts what goes to a disk, including mapped files; wchar
		// counts all that was passed to the kernel, including file systems in
		// memory.
		total += max(number(text, "write_bytes:"), number(text, "wchar:"))
	}
	return total, true
}
