//go:build unix

package plainfile

import (
	"io/fs"
	"syscall"
)

// hardLinks returns how many names a file has, 0 when that is unknown.
func hardLinks(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}
