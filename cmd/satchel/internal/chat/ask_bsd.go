//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package chat

import (
	"os"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"golang.org/x/sys/unix"
)

// dropTyped drops the input of a terminal that is not read yet.
func dropTyped(f *os.File) error {
	const read = 1 // FREAD
	return cli.OnDescriptor(f, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read) })
}
