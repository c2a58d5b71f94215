//go:build unix

package plainfile

import (
	"io/fs"
	"syscall"
)

const (
	// NonBlock is a flag for opening: a named pipe does not wait for its other
	// end, and a terminal does not become that of the process. Regular files
	// ignore it. What was opened must be looked at before it is read.
	NonBlock = syscall.O_NONBLOCK | syscall.O_NOCTTY
	// DirectoryOnly is a flag for opening that refuses all but directories.
	DirectoryOnly = syscall.O_DIRECTORY | syscall.O_NONBLOCK
)

// hardLinks returns how many names a file has, 0 when that is unknown.
func hardLinks(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}

// IDOf returns the device and the number of a file, of which package os made info.
func IDOf(info fs.FileInfo) ID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}
	}
	return ID{uint64(st.Dev), st.Ino} //nolint:unconvert // narrower elsewhere
}
