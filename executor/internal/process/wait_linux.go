package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// MaxOpenFiles bounds the descriptors of a command. It is not a field of Limits,
// because no program of a skill needs more. The host's own limit applies as well.
const MaxOpenFiles = 4096

// WaitID is waitid(2) for one process, repeated when a signal interrupts it.
func WaitID(pid, options int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, &unix.Siginfo{}, options, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
