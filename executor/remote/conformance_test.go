//go:build unix

package remote_test

import (
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/executortest"
	"github.com/satchel-go/satchel/executor/remote"
)

func TestConformanceOverAPipe(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			x := newExecutor(t, newPiped(t, kind))
			executortest.Run(t, func(*testing.T) executor.Executor { return x })
		})
	}
}

// TestConformanceOfAChild runs the suite with runners that are child processes, with the strongest isolation
// here. They go soon, because the suite tests that commands leave no children.
func TestConformanceOfAChild(t *testing.T) {
	kind := kinds[len(kinds)-1]
	x := newExecutor(t, newChild(t, kind), remote.WithIdle(200*time.Millisecond))
	executortest.Run(t, func(*testing.T) executor.Executor { return x })
}
