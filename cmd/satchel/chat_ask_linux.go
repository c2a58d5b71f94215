package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped drops what was typed on a terminal and is not read yet.
func dropTyped(f *os.File) error {
	return onDescriptor(f, func(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) })
}
