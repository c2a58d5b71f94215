//go:build amd64 || arm64

package reexec

import (
	"syscall"
	"unsafe"
)

// ignoreSignals makes this process ignore the signals that the Go runtime handles. Otherwise the
// program could end its sandbox with one of them, and so hide how it ended itself.
//
// The default action would not protect this process. The kernel withholds it from the first
// process of a namespace only while no thread blocks the signal. But the runtime blocks all signals
// on a thread that starts a program. The program itself gets default actions: the runtime sets them
// in the child.
func ignoreSignals() {
	const (
		last      = 64
		ignore    = 1  // SIG_IGN
		perThread = 33 // the runtime, or the C library, uses it to call all threads
	)
	type action struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}
	for sig := uintptr(1); sig <= last; sig++ {
		if sig == uintptr(syscall.SIGURG) || sig == perThread {
			continue // the runtime handles them for itself, and no other process can trigger that
		}
		var before, after action
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&before)), 8, 0, 0)
		// SIGCHLD gets the default action, which does nothing: a process that ignores it
		// cannot wait for a child.
		if before.handler > ignore && sig != uintptr(syscall.SIGCHLD) {
			after.handler = ignore
		}
		// This fails for SIGKILL and SIGSTOP, which need not be ignored.
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&after)), 0, 8, 0, 0)
	}
}
