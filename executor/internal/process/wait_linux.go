package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// WaitID is waitid(2) for one process, repeated when a signal interrupts it.
func WaitID(pid, options int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, &unix.Siginfo{}, options, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
