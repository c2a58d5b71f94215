package main

import (
	"runtime/pprof"
	"testing"
)

// TestStartThreads checks that the threads are there afterwards.
func TestStartThreads(t *testing.T) {
	startThreads(servingThreads)
	if n := pprof.Lookup("threadcreate").Count(); n < servingThreads {
		t.Errorf("%d threads, want at least %d", n, servingThreads)
	}
}
