//go:build amd64 || arm64

package reexec

import (
	"syscall"
	"unsafe"
)

// deafen takes back the handlers that the Go runtime has installed. The kernel
// keeps signals that nobody handles from the first process of a namespace, when
// they come from within: the program cannot end its sandbox with one, and so
// hide how it ended itself.
func deafen() {
	const last = 64
	var def struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}
	for sig := uintptr(1); sig <= last; sig++ {
		if sig == uintptr(syscall.SIGURG) {
			continue // the runtime's own, and of no effect without it
		}
		// SIGKILL and SIGSTOP cannot be set, and need not be.
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&def)), 0, 8, 0, 0)
	}
}
