package plainfile

import (
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Identity returns a text that identifies an existing file or directory. A file that replaces it
// has another identity. The text consists of device, inode and, if the file system keeps it, the
// time of birth. Inodes alone are not enough, because file systems reuse them.
func Identity(path string, info fs.FileInfo) (string, error) {
	var x unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &x); err == nil {
		id := fmt.Sprintf("%d:%d:%d", x.Dev_major, x.Dev_minor, x.Ino)
		if x.Mask&unix.STATX_BTIME != 0 {
			id += fmt.Sprintf(":%d.%09d", x.Btime.Sec, x.Btime.Nsec)
		}
		return id, nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no identity", path)
	}
	return fmt.Sprintf("%d:%d", uint64(st.Dev), st.Ino), nil //nolint:unconvert // narrower elsewhere
}
