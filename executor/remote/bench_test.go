//go:build unix

package remote_test

import (
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// BenchmarkCommand runs a program that does nothing: directly, over a pipe and over a child process.
func BenchmarkCommand(b *testing.B) {
	for _, kind := range kinds {
		direct, err := openKind(kind)
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range []struct {
			name string
			by   executor.Executor
		}{{"direct", direct}, {"pipe", newExecutor(b, newPiped(b, kind))}, {"child", newExecutor(b, newChild(b, kind))}} {
			b.Run(kind+"/"+way.name, func(b *testing.B) {
				cmd := script(b.TempDir(), "")
				cmd.Args = []string{"true"}
				for b.Loop() {
					if _, err := way.by.Run(b.Context(), cmd); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
