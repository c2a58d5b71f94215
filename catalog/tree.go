package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/satchel-go/satchel/internal/plainfile"
)

// maxEntries bounds what is read of one directory.
const maxEntries = 100_000

// tree is an opened root. Paths are slash-separated and relative to it, "."
// is the root itself; links are followed only where they stay inside.
type tree interface {
	// readDir lists a directory, unsorted, and reports whether it was cut at
	// limit entries.
	readDir(dir string, limit int) (entries []fs.DirEntry, cut bool, err error)
	// stat describes what name is, links followed.
	stat(name string) (fs.FileInfo, error)
	// open opens a file that was seen to be regular a moment ago. It does not
	// wait on a pipe that has taken its place.
	open(name string) (fs.File, error)
	close() error
}

// openTree opens root. If prev is the tree of the same root and still the same
// directory, prev is returned. The tree is nil for an absent optional root.
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
	if root.optional && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", root.path)
	}
	if dir, ok := prev.(*dirTree); ok && os.SameFile(dir.info, info) {
		return prev, nil
	}
	return openDirTree(root.path)
}

// openRegular opens name after checking, before and after, that it is a
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

// openSeen is openRegular for a name that is known to have been regular.
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

// checkRegular reports what keeps a file from being read.
func checkRegular(info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s", ErrNotRegular, plainfile.Kind(info.Mode()))
	}
	if info.Size() > limit {
		return tooLarge(limit)
	}
	return nil
}

// readAll reads at most limit bytes of f, which claims to have size bytes.
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

// below joins a directory of a tree and the name of an entry. Names are never
// cleaned: they come from a listing and are no paths (see isName).
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// isName reports whether a listed name is the name of one entry. File systems
// other than those of the operating system may list anything.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/")
}
