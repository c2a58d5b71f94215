//go:build unix

package durable

import (
	"errors"
	"os"
)

// Sync flushes directories to the disk, so that their names survive a crash.
func Sync(root *os.Root, names ...string) error {
	for _, name := range names {
		d, err := root.Open(name)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}
