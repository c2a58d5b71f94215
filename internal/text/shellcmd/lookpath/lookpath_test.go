//go:build unix

package lookpath

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func file(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, nil, mode); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	file(t, filepath.Join(first, "both"), 0o755)
	file(t, filepath.Join(second, "both"), 0o755)
	file(t, filepath.Join(first, "blocked"), 0o644)
	file(t, filepath.Join(second, "blocked"), 0o755)
	file(t, filepath.Join(second, "plain"), 0o644)
	if err := os.Mkdir(filepath.Join(second, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("both", filepath.Join(second, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(second)
	both := first + ":" + second
	for _, tt := range []struct {
		name, path, want string
		err              error
	}{
		{"both", both, first + "/both", nil},
		{"both", second + ":" + first, second + "/both", nil},
		{"blocked", both, second + "/blocked", nil},
		{"link", both, second + "/link", nil},
		{"plain", both, "", ErrNotExecutable},
		{"dir", both, "", ErrNotExecutable},
		{"none", both, "", ErrNotFound},
		{"both", "", "", ErrNotFound},
		{"both", ".", "", ErrNotFound},
		{"both", ":", "", ErrNotFound},
		{"both", "..:relative/dir", "", ErrNotFound},
		{"./both", both, "", ErrNotFound},
		{second + "/both", both, "", ErrNotFound},
		{"", both, "", ErrNotFound},
		{".", both, "", ErrNotFound},
		{"..", both, "", ErrNotFound},
		{"both\x00", both, "", ErrNotFound},
	} {
		t.Run(fmt.Sprintf("%q on %q", tt.name, strings.ReplaceAll(tt.path, os.TempDir(), "")), func(t *testing.T) {
			got, err := Find(tt.name, tt.path)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %q, %v, want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	file(t, filepath.Join(dir, "yes"), 0o755)
	file(t, filepath.Join(dir, "no"), 0o600)
	for name, want := range map[string]error{
		"yes": nil, "no": ErrNotExecutable, ".": ErrNotExecutable, "none": ErrNotFound, "yes/below": ErrNotFound,
	} {
		if err := Executable(filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if err := Executable(os.DevNull); !errors.Is(err, ErrNotExecutable) {
		t.Errorf("device: %v", err)
	}
}

func ExampleFind() {
	_, err := Find("sh", ".:bin") // relative entries of PATH are skipped
	fmt.Println(err)
	// Output: "sh": not found on PATH
}
