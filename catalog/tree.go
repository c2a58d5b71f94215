package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// maxEntries bounds what is read of one directory.
const maxEntries = 100_000

// tree is an opened root. Paths are slash-separated and relative to it; "." is the
// root itself. Links are followed only where they stay inside.
type tree interface {
	// readDir lists a directory in no order, and reports whether the list was cut
	// at limit entries.
	readDir(dir string, limit int) (entries []fs.DirEntry, cut bool, err error)
	// stat describes a file or directory; it follows links.
	stat(name string) (fs.FileInfo, error)
	// open opens a file that was regular a moment ago. If a pipe has taken its
	// place it does not wait for it.
	open(name string) (fs.File, error)
	// resolve returns the path that name stands for after all links were followed.
	resolve(name string) (string, error)
	close() error
}

// openTree opens root. It returns prev if that is the tree of the same root and
// still the same directory, and nil for an optional root that is absent.
func openTree(root Root, prev tree) (tree, error) {
	switch {
	case root.fsys != nil:
		if prev != nil {
			return prev, nil
		}
		return &fsTree{fsys: root.fsys}, nil
	case root.path == "":
		return nil, errors.New("no directory and no file system given")
	}
	// Stat first: opening a pipe would block.
	info, err := os.Stat(root.path)
	if errors.Is(err, fs.ErrNotExist) && root.mayBeAbsent() {
		return nil, nil
	}
	if err != nil {
		return nil, root.unopened(err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", root.path)
	}
	if dir, ok := prev.(*dirTree); ok && os.SameFile(dir.info, info) {
		return prev, nil
	}
	if root.plugin != "" {
		return openPlugin(root)
	}
	return openDirTree(root.path)
}

// openRegular opens a file and checks before and after opening it that it is a
// regular file of at most limit bytes.
func openRegular(t tree, name string, limit int64) (fs.File, fs.FileInfo, error) {
	info, err := t.stat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkRegular(info, limit); err != nil {
		return nil, nil, err
	}
	return openSeen(t, name, limit)
}

// openSeen is openRegular for a file that is known to have been regular.
func openSeen(t tree, name string, limit int64) (fs.File, fs.FileInfo, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkRegular(info, limit)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// checkRegular returns the reason why a file must not be read, or nil.
func checkRegular(info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s", errNotRegular, plainfile.Kind(info.Mode()))
	}
	if info.Size() > limit {
		return tooLarge(limit)
	}
	return nil
}

// readAll reads f, which claims to have size bytes. It returns errTooLarge beyond
// limit bytes.
func readAll(f fs.File, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, min(max(size, 0), limit)+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, tooLarge(limit)
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// below joins a directory of a tree and the name of an entry. Names are not
// cleaned: they come from a listing and are not paths, see isName.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// isName reports whether a listed name is the name of a single entry. A file system
// that is not the operating system's may list anything.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/")
}
