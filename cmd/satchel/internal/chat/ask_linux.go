package chat

import (
	"os"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"golang.org/x/sys/unix"
)

// dropTyped drops the input of a terminal that is not read yet.
func dropTyped(f *os.File) error {
	return cli.OnDescriptor(f, func(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) })
}
