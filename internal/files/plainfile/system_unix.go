//go:build unix

package plainfile

import (
	"io/fs"
	"syscall"
)

const (
	// NonBlock is a flag for opening a file. With it, opening a named pipe does not wait for a
	// writer, and a terminal does not become the controlling terminal of the process. Regular
	// files ignore it. The caller must check the kind of the open file before it reads.
	NonBlock = syscall.O_NONBLOCK | syscall.O_NOCTTY
	// DirectoryOnly is a flag for opening. Opening anything but a directory fails.
	DirectoryOnly = syscall.O_DIRECTORY | syscall.O_NONBLOCK
)

// hardLinks returns how many names a file has, 0 if unknown.
func hardLinks(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}

// IDOf returns the device and the inode of a file. info must come from package os.
func IDOf(info fs.FileInfo) ID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}
	}
	return ID{uint64(st.Dev), st.Ino} //nolint:unconvert // narrower elsewhere
}
