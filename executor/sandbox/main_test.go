package sandbox_test

import (
	"runtime"
	"testing"

	"github.com/satchel-go/satchel/executor/executortest"
)

// init keeps the main goroutine on the main thread, for TestMain.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	onMainThread()
	executortest.Main(m)
}
