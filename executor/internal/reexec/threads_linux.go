//go:build amd64 || arm64

package reexec

import "runtime"

// reserveThreads starts all threads that this process will need. It must do so before the
// program runs, because the limit on processes counts threads too. A program that has used up
// its limit would keep this process from starting a thread, and then the Go runtime aborts. Go
// code runs on one processor only, so these threads are enough.
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
