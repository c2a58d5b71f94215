//go:build unix

package catalog

import "syscall"

const (
	// openNonblock keeps open from waiting for the other end of a pipe that
	// took a file's place between the check and the open. Regular files
	// ignore it.
	openNonblock = syscall.O_NONBLOCK
	// openDirectory refuses anything but a directory, without opening it.
	openDirectory = syscall.O_DIRECTORY | syscall.O_NONBLOCK
)
