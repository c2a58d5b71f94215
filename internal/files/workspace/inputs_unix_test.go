//go:build unix

package workspace_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestInputsOfSpecialFiles(t *testing.T) {
	a := newInputWorkspace(t)
	target, check := outside(t)
	must(t, syscall.Mkfifo(filepath.Join(a.host, "data/pipe"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(a.ws.Path(), "out/pipe"), 0o600))
	must(t, os.Link(filepath.Join(target, "secret"), filepath.Join(a.ws.Path(), "out/hard")))
	listen(t, filepath.Join(a.host, "data/a/socket"))
	listen(t, filepath.Join(a.ws.Path(), "out/socket"))
	for _, from := range []string{a.hostURL("data/pipe"), a.hostURL("data/a/socket"), "workspace://out/pipe", "workspace://out/hard", "workspace://out/socket"} {
		if _, _, err := a.ws.Inputs(t.Context(), []workspace.Input{{From: from, To: "work/x"}}, a.from); !errors.Is(err, workspace.ErrNotRegular) {
			t.Errorf("%s: error %v", from, err)
		}
	}
	_, warnings, err := a.ws.Inputs(t.Context(), []workspace.Input{
		{From: a.hostURL("data")}, {From: "workspace://out", To: "work/copy"},
	}, a.from)
	must(t, err)
	if len(warnings) != 2 || !strings.Contains(warnings[0], "2 pipes") || !strings.Contains(warnings[1], "3 pipes") {
		t.Errorf("warnings %q", warnings)
	}
	if _, err := os.Lstat(filepath.Join(a.ws.Path(), "work/copy/hard")); err == nil {
		t.Error("a file outside was read by its second name")
	}
	for _, file := range []string{"work/inputs/data/a/one", "work/inputs/data/two", "work/copy/report.txt"} {
		read(t, filepath.Join(a.ws.Path(), file))
	}
	check()
}

// listen makes a socket, also at a path that is too long to bind.
func listen(t *testing.T, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", dir+"/s")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	must(t, os.Rename(dir+"/s", path))
}

// A device is not even opened, because that may have effects.
func TestInputOfDevice(t *testing.T) {
	ws := newWorkspace(t, workspace.WithHostDirs("/dev"))
	for _, device := range []string{"null", "zero"} {
		_, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: "host:///dev/" + device}}, workspace.Sources{})
		if !errors.Is(err, workspace.ErrNotRegular) || !strings.Contains(err.Error(), "a device") {
			t.Errorf("%s: %v", device, err)
		}
	}
}
