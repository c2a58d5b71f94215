//go:build amd64 || arm64

package sandbox_test

import (
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// TestSandboxStreamsByName opens the streams as programs do that accept only file
// names.
func TestSandboxStreamsByName(t *testing.T) {
	s := newSandbox(t)
	cmd := executor.Command{
		Args: []string{"sh", "-c", "echo out > /dev/stdout; echo err > /dev/stderr; echo three | tee /dev/stderr; cat /dev/stdin"},
		Env:  []string{"PATH=/usr/bin:/bin"}, Workspace: t.TempDir(),
	}
	result := sandboxed(t, s, cmd)
	if got := result.Stdout.String(); got != "out\nthree\n" {
		t.Errorf("stdout %q", got)
	}
	if got := result.Stderr.String(); got != "err\nthree\n" {
		t.Errorf("stderr %q", got)
	}
	cmd.Args[2] = "echo again > /dev/stdout && exec < /dev/stdin && echo tty > /dev/tty"
	p, err := s.Start(t.Context(), cmd, executor.Terminal{TTY: true, Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	if result, err = p.Wait(t.Context()); err != nil || result.ExitCode != 0 || result.Stdout.String() != "again\r\ntty\r\n" {
		t.Errorf("terminal: %v, code %d, %q", err, result.ExitCode, result.Stdout)
	}
}
