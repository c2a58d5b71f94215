//go:build amd64 || arm64

package executor_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/executortest"
)

func newSandbox(t testing.TB, opts ...executor.SandboxOption) *executor.Sandbox {
	t.Helper()
	s, err := executor.NewSandbox(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSandboxConformance(t *testing.T) {
	executortest.Run(t, func(t *testing.T) executor.Executor { return newSandbox(t) })
}

// TestWithoutNamespaces is about the weaker tier, which root does not get.
func TestWithoutNamespaces(t *testing.T) {
	if os.Geteuid() == 0 {
		_, err := executor.NewSandbox(executor.WithoutNamespaces())
		if !errors.Is(err, executor.ErrUnavailable) || !strings.Contains(err.Error(), "ordinary user") {
			t.Fatalf("as root: %v", err)
		}
		return
	}
	executortest.Run(t, func(t *testing.T) executor.Executor { return newSandbox(t, executor.WithoutNamespaces()) })
}

func BenchmarkSandbox(b *testing.B) {
	s, cmd := newSandbox(b), script(b.TempDir(), "")
	cmd.Args = []string{"true"}
	for b.Loop() {
		if _, err := s.Run(b.Context(), cmd); err != nil {
			b.Fatal(err)
		}
	}
}
