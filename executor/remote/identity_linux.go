package remote

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
)

// openPath is O_PATH, which package syscall does not have. It opens a file without reading it.
const openPath = 0x200000

// identityAt returns the device and inode of a directory. It opens the directories of the path one by
// one and follows no link.
func identityAt(path string) (dev, ino uint64, err error) {
	if !filepath.IsAbs(path) {
		return 0, 0, fmt.Errorf("%q is not absolute", path)
	}
	const flags = openPath | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	fd, err := syscall.Open("/", flags, 0)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = syscall.Close(fd) }()
	for name := range strings.SplitSeq(strings.Trim(filepath.Clean(path), "/"), "/") {
		if name == "" {
			continue
		}
		next, err := syscall.Openat(fd, name, flags, 0)
		if err != nil {
			return 0, 0, fmt.Errorf("%q in %q: %w", name, path, err)
		}
		_ = syscall.Close(fd)
		fd = next
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return 0, 0, err
	}
	return uint64(stat.Dev), stat.Ino, nil
}
