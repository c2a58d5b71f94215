package lazyfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/internal/files/lazyfs"
)

func TestFS(t *testing.T) {
	read := 0
	fsys := lazyfs.New([]lazyfs.File{{Path: "a.txt", Size: 5}, {Path: "b/c/d.sh", Size: 8, Executable: true}}, func(path string) ([]byte, error) {
		read++
		return []byte(path), nil
	})
	if info, err := fs.Stat(fsys, "b/c/d.sh"); err != nil || info.Mode() != 0o555 || info.Size() != 8 {
		t.Errorf("%v, %v", info, err)
	}
	if read != 0 {
		t.Error("Stat reads a file")
	}
	if err := fs.WalkDir(fsys, ".", func(string, fs.DirEntry, error) error { return nil }); err != nil || read != 0 {
		t.Errorf("a walk reads %d files, %v", read, err)
	}
	if err := fstest.TestFS(fsys, "a.txt", "b/c/d.sh"); err != nil {
		t.Error(err)
	}
	twice := lazyfs.New([]lazyfs.File{{Path: "a", Size: 1}, {Path: "a/b/c", Size: 2}, {Path: "a", Size: 3}, {Path: "d/e", Size: 4}, {Path: "d", Size: 5}}, nil)
	var found []string
	if err := fs.WalkDir(twice, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, _ := d.Info()
			name += fmt.Sprint(" ", info.Size())
		}
		found = append(found, name)
		return err
	}); err != nil || !slices.Equal(found, []string{".", "a 1", "d", "d/e 4"}) {
		t.Errorf("of files below files there are %q, %v", found, err)
	}
	broken := errors.New("broken")
	if _, err := lazyfs.New([]lazyfs.File{{Path: "a"}}, func(string) ([]byte, error) { return nil, broken }).Open("a"); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func ExampleNew() {
	fsys := lazyfs.New([]lazyfs.File{{Path: "a.txt", Size: 5}}, func(string) ([]byte, error) { return []byte("hello"), nil })
	text, err := fs.ReadFile(fsys, "a.txt")
	fmt.Println(string(text), err)
	// Output: hello <nil>
}
