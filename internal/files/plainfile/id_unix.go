//go:build unix

package plainfile

import (
	"io/fs"
	"syscall"
)

// IDOf returns the device and the number of a file, of which package os made info.
func IDOf(info fs.FileInfo) ID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}
	}
	return ID{uint64(st.Dev), st.Ino} //nolint:unconvert // narrower elsewhere
}
