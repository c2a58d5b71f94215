//go:build unix

package executor_test

import (
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/executortest"
)

func newLocal(t testing.TB, opts ...executor.LocalOption) *executor.Local {
	t.Helper()
	l, err := executor.NewLocal(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocalConformance(t *testing.T) {
	executortest.Run(t, func(t *testing.T) executor.Executor { return newLocal(t) })
}
