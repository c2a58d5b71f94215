//go:build unix

package plainfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// The pipe has no other end: without the flag this would wait forever.
func TestPipeDoesNotWait(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if got := plainfile.Kind(info.Mode()); got != "a named pipe" {
		t.Errorf("it is %s", got)
	}
	if f, err := os.OpenFile(pipe, os.O_RDONLY|plainfile.DirectoryOnly, 0); err == nil {
		f.Close()
		t.Error("a pipe was opened as a directory")
	}
}

func TestKind(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o644:                             "a file",
		fs.ModeDir | 0o755:                "a directory",
		fs.ModeSymlink:                    "a symbolic link",
		fs.ModeSocket:                     "a socket",
		fs.ModeDevice | fs.ModeCharDevice: "a device",
		fs.ModeIrregular:                  "a special file",
	} {
		if got := plainfile.Kind(mode); got != want {
			t.Errorf("%v is %s, want %s", mode, got, want)
		}
	}
}
