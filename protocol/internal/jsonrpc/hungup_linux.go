package jsonrpc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// HungUp reports whether the other end of a pipe or socket is closed. A peer that has only finished
// writing still reads, so its end is not. HungUp returns false if w is no syscall.Conn.
func HungUp(w any) (isClosed bool) {
	conn, ok := w.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		isClosed = err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
	})
	return isClosed
}
