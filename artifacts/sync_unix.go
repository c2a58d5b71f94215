//go:build unix

package artifacts

import (
	"errors"
	"os"
	"syscall"
)

// openFlags keep the opening of a named pipe from blocking; what was opened is
// checked to be a regular file before it is read.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// syncDir makes the names in a directory durable.
func syncDir(root *os.Root, name string) error {
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
