//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package trace

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock of an open file, and fails at once if another process has it. The lock
// ends with the process.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlockFile releases the lock. Closing the file is not enough: a child process that another
// goroutine starts has the file open too until its exec.
func unlockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// isWithoutReader reports whether a pipe could not be opened because no process reads it.
func isWithoutReader(err error) bool { return errors.Is(err, syscall.ENXIO) }
