package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// freeSpace returns the free space of a directory's file system, or false if it is unknown. A file
// system without a fixed number of files has 0 files free.
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

// removedFiles returns the space of removed files that processes still hold, on the file system of a
// tree, and whether some files are hidden.
func removedFiles(stop <-chan struct{}, pids []int, tree *os.File) (used space, hidden bool) {
	h := findHeldFiles(stop, pids, idOf(tree).device)
	return h.used, h.hidden
}

// writtenBy returns how many bytes processes have written, to any file or pipe, with those of their
// children that have ended. It returns false if the kernel does not report that for each process.
// Without processes nothing more is written, so the total is known if the kernel reports totals.
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
