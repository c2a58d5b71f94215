package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// TestExplained checks which ends of a program count as an end for the memory of the container.
func TestExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.events")
	killFiles = []string{filepath.Join(t.TempDir(), "missing"), file}
	for _, tt := range []struct {
		text   string
		result executor.Result
		want   executor.Reason
	}{
		{"oom 1\noom_kill 3\n", executor.Result{Reason: executor.ReasonSignal, ExitCode: 137}, executor.ReasonOOM},
		{"under_oom 0\noom_kill 3\n", executor.Result{Reason: executor.ReasonExit, ExitCode: 137}, executor.ReasonOOM},
		{"oom_kill 2\n", executor.Result{Reason: executor.ReasonSignal, ExitCode: 137}, executor.ReasonSignal},
		{"oom_kill 3\n", executor.Result{Reason: executor.ReasonTimeout, ExitCode: 137}, executor.ReasonTimeout},
		{"oom_kill 3\n", executor.Result{Reason: executor.ReasonExit}, executor.ReasonExit},
		{"", executor.Result{Reason: executor.ReasonSignal, ExitCode: 137}, executor.ReasonSignal},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := explained(tt.result, 2).Reason; got != tt.want {
			t.Errorf("%q, %+v: %s, want %s", tt.text, tt.result, got, tt.want)
		}
	}
}
