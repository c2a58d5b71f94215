package measure

import (
	"errors"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNeedPrograms(t *testing.T) {
	dir := t.TempDir()
	if err := needPrograms(dir); !errors.Is(err, cli.ErrStart) || !strings.Contains(err.Error(), "bash is missing") {
		t.Errorf("without bash: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bash"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := needPrograms(dir); !errors.Is(err, cli.ErrStart) || !strings.Contains(err.Error(), "python3 is missing") || !strings.Contains(err.Error(), dir) {
		t.Errorf("without python3: %v", err)
	}
}
