//go:build unix

package plainfile

import "syscall"

const (
	// NonBlock is a flag for opening: a named pipe does not wait for its other
	// end, and a terminal does not become that of the process. Regular files
	// ignore it. What was opened must be looked at before it is read.
	NonBlock = syscall.O_NONBLOCK | syscall.O_NOCTTY
	// DirectoryOnly is a flag for opening that refuses all but directories.
	DirectoryOnly = syscall.O_DIRECTORY | syscall.O_NONBLOCK
)
