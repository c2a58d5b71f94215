package main

import (
	"runtime"
	"sync"
)

// The threads that are started ahead. A Go program ends if it gets no thread, and a command in the Landlock tier
// may take all that the container may have. Threads that are idle are used again before new ones are started.
const (
	// firstThreads are those of the first process, which only waits.
	firstThreads = 8
	// servingThreads are those of the runner: two for each of some commands side by side, and those of the
	// Go runtime.
	servingThreads = 48
)

// startThreads starts n threads and leaves them idle.
func startThreads(n int) {
	var started, ended sync.WaitGroup
	started.Add(n)
	for range n {
		ended.Go(func() {
			runtime.LockOSThread() // no other goroutine runs on this thread until all have one
			defer runtime.UnlockOSThread()
			started.Done()
			started.Wait()
		})
	}
	ended.Wait()
}
