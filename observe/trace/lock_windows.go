package trace

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// replacesOpen reports that a file can be replaced while it is open.
const replacesOpen = false

// lockFile takes the lock of an open file, and fails at once if another process has it. The lock
// ends with the process. It is on a byte far behind the end, because Windows keeps other processes
// from reading what is locked.
func lockFile(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

func unlockFile(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

func isWithoutReader(error) bool { return false }
