package plainfile

import (
	"fmt"
	"io/fs"
	"syscall"
)

// Identity returns a text that identifies an existing file or directory. A file that replaces it
// has another identity. The text consists of device, inode and time of birth.
func Identity(path string, info fs.FileInfo) (string, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no identity", path)
	}
	return fmt.Sprintf("%d:%d:%d.%09d", st.Dev, st.Ino, st.Birthtimespec.Sec, st.Birthtimespec.Nsec), nil
}
