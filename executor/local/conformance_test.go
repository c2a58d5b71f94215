//go:build unix

package local_test

import (
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/executortest"
	"github.com/satchel-go/satchel/executor/local"
)

func newLocal(t testing.TB, opts ...local.Option) *local.Local {
	t.Helper()
	l, err := local.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocalConformance(t *testing.T) {
	executortest.Run(t, func(t *testing.T) executor.Executor { return newLocal(t) })
}
