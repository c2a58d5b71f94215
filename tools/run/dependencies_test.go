package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The directory of packages is opened without links, as a sandbox shows it, and never made.
func TestOpenDependencies(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link, missing := filepath.Join(t.TempDir(), "link"), filepath.Join(dir, "missing")
	if err := os.Symlink(dir, link); err != nil {
		if runtime.GOOS != "windows" { // on Windows, links require a privilege
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for given, want := range map[string]string{"": "", dir: dir, link: dir} {
		r := Runner{Dependencies: given}
		if err := r.OpenDependencies(); err != nil || r.Dependencies != want || (r.installed != nil) != (want != "") {
			t.Errorf("%q: %q, opened %v, error %v, want %q", given, r.Dependencies, r.installed != nil, err, want)
		}
	}
	r := Runner{Dependencies: missing}
	if err := r.OpenDependencies(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is missing: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
}
