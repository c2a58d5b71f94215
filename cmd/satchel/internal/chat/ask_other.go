//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package main

import (
	"errors"
	"os"
)

// dropTyped would drop what was typed on a terminal and is not read yet.
func dropTyped(*os.File) error { return errors.ErrUnsupported }
