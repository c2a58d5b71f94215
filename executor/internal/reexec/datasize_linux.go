//go:build amd64 || arm64

package reexec

import (
	"strconv"
	"syscall"
)

// leastData returns the smallest RLIMIT_DATA under which this process can continue: the limit of the
// program applies to this process too. If the program's limit is smaller, the executor enforces it
// only by watching its memory, or by a cgroup.
func leastData() uint64 {
	var text [256]byte
	n := 0
	if fd, err := syscall.Open("/proc/self/statm", syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err == nil {
		n, _ = syscall.Read(fd, text[:])
		_ = syscall.Close(fd)
	}
	pages, err := strconv.ParseUint(field(text[:max(n, 0)], 5), 10, 64)
	if err != nil {
		return 2 * spareData
	}
	return pages*uint64(syscall.Getpagesize()) + spareData
}

// field returns one of the fields of a line, counted from 0.
func field(line []byte, which int) string {
	start := 0
	for i, c := range line {
		if c != ' ' && c != '\n' {
			continue
		}
		if which == 0 {
			return string(line[start:i])
		}
		which, start = which-1, i+1
	}
	return ""
}
