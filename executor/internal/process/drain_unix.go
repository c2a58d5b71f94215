//go:build unix

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasUnread reports whether a read from the host's end of a stream would return data at once. For
// nil it returns false.
func hasUnread(file *os.File) bool {
	if file == nil {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	ready := false
	err = conn.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		ready = err == nil && n > 0 && poll[0].Revents&unix.POLLIN != 0
	})
	return err == nil && ready
}
