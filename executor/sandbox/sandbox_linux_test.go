//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/executortest"
	"github.com/satchel-go/satchel/executor/sandbox"
)

func newSandbox(t testing.TB, opts ...sandbox.Option) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Open(t.Context(), opts...)
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

// TestWithoutNamespaces tests the weaker tier, which is refused to root.
func TestWithoutNamespaces(t *testing.T) {
	if os.Geteuid() == 0 {
		_, err := sandbox.Open(t.Context(), sandbox.WithoutNamespaces())
		if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "ordinary user") {
			t.Fatalf("as root: %v", err)
		}
		return
	}
	executortest.Run(t, func(t *testing.T) executor.Executor { return newSandbox(t, sandbox.WithoutNamespaces()) })
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

// BenchmarkOpen opens sandboxes after a first one.
func BenchmarkOpen(b *testing.B) {
	newSandbox(b)
	for b.Loop() {
		s, err := sandbox.Open(b.Context())
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func script(dir, text string) executor.Command {
	return executor.Command{
		Args: []string{"sh", "-c", text}, Workspace: dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Limits: executor.Limits{Timeout: time.Minute},
	}
}
