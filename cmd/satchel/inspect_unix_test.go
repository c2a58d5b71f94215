//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe without another end must not stop the command.
func TestInspectSkipsPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "SKILL.md")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, all := inspections(t, "", path)
	if all[0].Loaded || !strings.Contains(all[0].Diagnostics[0].Message, "not a regular file") {
		t.Errorf("pipe: %+v", all[0])
	}
}
