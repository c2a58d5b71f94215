//go:build amd64 || arm64

package reexec

import "runtime"

// reserveThreads starts all threads that this process will need, before the program runs. The limit
// on processes counts threads too. If the program had used it up, this process could not start a
// thread, and the Go runtime would abort. Go code runs on one processor only, so these threads are
// enough.
func reserveThreads() {
	runtime.GOMAXPROCS(1)
	step, all := make(chan struct{}), make(chan struct{})
	for range spareThreads {
		go func() {
			runtime.LockOSThread() // each goroutine gets a thread of its own
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
