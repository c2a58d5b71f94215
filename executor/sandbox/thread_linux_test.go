//go:build amd64 || arm64

package sandbox_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/sandbox"
)

// ranOn is the thread on which a function ran that the main thread called.
var ranOn int

// onMainThread is called on the main thread.
func onMainThread() {
	ran := make(chan int, 1)
	sandbox.OwnThread(func() { ran <- unix.Gettid() })
	ranOn = <-ran
}

// TestOwnThread checks that ownThread does not use the main thread, which the Go runtime never ends.
func TestOwnThread(t *testing.T) {
	if ranOn == 0 || ranOn == unix.Getpid() {
		t.Errorf("it ran on thread %d of process %d", ranOn, unix.Getpid())
	}
}
