//go:build amd64 || arm64

package reexec

import "runtime"

// spareThreads is the number of threads that this process needs besides the main
// one and those of the Go runtime itself: one in which obey waits, one to run Go
// code while that one and the main thread wait, and one in reserve.
const spareThreads = 3

// reserveThreads starts all threads that this process will need. It must do so
// before the program runs: the limit on processes counts threads too, so a
// program that has used up its limit would keep this process from starting a
// thread, and the Go runtime aborts when it cannot start one. Because Go code
// runs on one processor only, these threads are enough.
func reserveThreads() {
	runtime.GOMAXPROCS(1)
	step, all := make(chan struct{}), make(chan struct{})
	for range spareThreads {
		go func() {
			runtime.LockOSThread() // so that each has a thread of its own
			step <- struct{}{}
			<-all
			runtime.UnlockOSThread() // the runtime keeps the thread
			step <- struct{}{}
		}()
	}
	for range spareThreads {
		<-step
	}
	close(all)
	for range spareThreads {
		<-step
	}
}
