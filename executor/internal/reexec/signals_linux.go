//go:build amd64 || arm64

package reexec

import (
	"syscall"
	"unsafe"
)

// ignoreSignals makes signals of the program have no effect on this process. Otherwise the program
// could end its sandbox with one of them, and so hide how it ended itself.
//
// The default action would not protect this process. The kernel withholds it from the first
// process of a namespace only while no thread blocks the signal. But the runtime blocks all signals
// on a thread that starts a program. The program itself gets default actions: the runtime sets them
// in the child for the signals that it handles, and the kernel for those that have a handler here.
func ignoreSignals() {
	model := actionOf(syscall.SIGUSR1) // with the flags of a handler of the runtime
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		before, after := actionOf(sig), action{}
		switch {
		case sig == syscall.SIGURG || sig == perThread && before.handler > ignore:
			continue // the runtime handles them for itself, and no other process can trigger that
		case sig >= perThread-1 && before.handler <= ignore: // make, for one, starts programs that ignore some
			after = model
			after.handler = noopAddress()
		case before.handler > ignore && sig != syscall.SIGCHLD:
			// SIGCHLD gets the default action, which does nothing: a process that ignores it
			// cannot wait for a child.
			after.handler = ignore
		}
		// This fails for SIGKILL and SIGSTOP, which need not be ignored.
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&after)), 0, 8, 0, 0)
	}
}

const (
	lastSignal = 64
	ignore     = 1  // SIG_IGN
	perThread  = 33 // the runtime, or the C library, uses it to call all threads
)

// action is the kernel's struct sigaction.
type action struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// actionOf returns the action of a signal.
func actionOf(sig syscall.Signal) (a action) {
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), 0, uintptr(unsafe.Pointer(&a)), 8, 0, 0)
	return a
}

// noopAddress returns the address of a handler that does nothing. The runtime has none for signals that
// it does not handle, and the program would inherit that they are ignored.
func noopAddress() uintptr
