//go:build unix

package outputs

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep the opening of a named pipe from waiting for its writer, and
// that of a terminal from making it ours.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// hardLinks returns how many names a file has, 0 when that is unknown.
func hardLinks(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}
