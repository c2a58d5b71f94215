//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package chat

import (
	"errors"
	"os"
)

// dropTyped fails: no system call drops the input of a terminal here.
func dropTyped(*os.File) error { return errors.ErrUnsupported }
