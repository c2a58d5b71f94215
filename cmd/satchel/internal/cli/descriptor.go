//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package cli

import (
	"errors"
	"os"
)

// OnDescriptor calls do with the descriptor of a file.
func OnDescriptor(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = raw.Control(func(fd uintptr) { done = do(int(fd)) })
	return errors.Join(err, done)
}
