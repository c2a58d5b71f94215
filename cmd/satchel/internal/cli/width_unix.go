//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalColumns returns the width of a terminal, 0 where it is not known.
func terminalColumns(f *os.File) (columns int) {
	_ = OnDescriptor(f, func(fd int) error {
		size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil {
			columns = int(size.Col)
		}
		return err
	})
	return columns
}
