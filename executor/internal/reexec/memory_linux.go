//go:build amd64 || arm64

package reexec

import "syscall"

// openKillOrder opens the file that says how early the kernel ends this process if memory is short, or
// returns -1. Only root may open it later, when the process is not dumpable.
func openKillOrder() int {
	fd, err := syscall.Open("/proc/self/oom_score_adj", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// killFirst makes the kernel end this process and the program before others, such as the host. Otherwise
// it would end the largest one, and that is the host if a command has many small ones. A kernel without
// the file goes on as before.
func killFirst(order int) {
	if order < 0 {
		return
	}
	_, _ = syscall.Write(order, []byte("1000"))
	_ = syscall.Close(order)
}
