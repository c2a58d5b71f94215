//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package trace

import (
	"errors"
	"os"
	"syscall"
)

// replacesOpen reports that a file can be replaced while it is open.
const replacesOpen = true

// lockFile takes the lock of an open file, and fails at once if another process has it. The lock
// ends with the process. On a file system without locks it does nothing.
func lockFile(f *os.File) error {
	var err error
	c, failed := f.SyscallConn() // Fd would make writes to a pipe block
	if failed == nil {
		failed = c.Control(func(fd uintptr) { err = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	}
	if failed != nil {
		return failed
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errBusy
	}
	return nil
}

// unlockFile releases the lock. Closing the file is not enough: a child process that another
// goroutine starts has the file open too until its exec.
func unlockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// isWithoutReader reports whether a pipe could not be opened because no process reads it.
func isWithoutReader(err error) bool { return errors.Is(err, syscall.ENXIO) }
