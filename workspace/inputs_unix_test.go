//go:build unix

package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/workspace"
)

func TestInputsOfSpecialFiles(t *testing.T) {
	a := newArena(t)
	target, check := outside(t)
	must(t, syscall.Mkfifo(filepath.Join(a.host, "data/pipe"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(a.ws.Path(), "out/pipe"), 0o600))
	must(t, os.Link(filepath.Join(target, "secret"), filepath.Join(a.ws.Path(), "out/hard")))
	for _, from := range []string{a.hostURL("data/pipe"), "workspace://out/pipe", "workspace://out/hard"} {
		if _, _, err := a.ws.Inputs(t.Context(), []workspace.Input{{From: from, To: "work/x"}}, a.from); !errors.Is(err, workspace.ErrNotRegular) {
			t.Errorf("%s: error %v", from, err)
		}
	}
	_, warnings, err := a.ws.Inputs(t.Context(), []workspace.Input{
		{From: a.hostURL("data")}, {From: "workspace://out", To: "work/copy"},
	}, a.from)
	must(t, err)
	if len(warnings) != 2 || !strings.Contains(warnings[0], "1 pipes") || !strings.Contains(warnings[1], "2 pipes") {
		t.Errorf("warnings %q", warnings)
	}
	if _, err := os.Lstat(filepath.Join(a.ws.Path(), "work/copy/hard")); err == nil {
		t.Error("a file outside was read by its second name")
	}
	check()
}
