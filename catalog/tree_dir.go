package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// dirTree is a directory of the operating system. os.Root keeps every path and
// every link inside it, even if they change meanwhile.
type dirTree struct {
	root *os.Root
	info fs.FileInfo // of the directory, to notice that it was swapped

	mu     sync.Mutex
	listed map[string]listedDir // what was listed since remember was called, nil otherwise
}

type listedDir struct {
	entries []fs.DirEntry
	cut     bool
}

// remember keeps what is listed until forget is called: one search reads some folders twice.
func (t *dirTree) remember() (forget func()) {
	set := func(listed map[string]listedDir) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.listed = listed
	}
	set(make(map[string]listedDir))
	return func() { set(nil) }
}

func openDirTree(path string) (*dirTree, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return newDirTree(root)
}

func newDirTree(root *os.Root) (*dirTree, error) {
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &dirTree{root: root, info: info}, nil
}

func (t *dirTree) readDir(dir string, limit int) (entries []fs.DirEntry, cut bool, err error) {
	t.mu.Lock()
	known, ok := t.listed[dir]
	t.mu.Unlock()
	if ok && len(known.entries) <= limit {
		return slices.Clone(known.entries), known.cut, nil
	}
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.listed != nil && err == nil {
			t.listed[dir] = listedDir{slices.Clone(entries), cut}
		}
	}()
	f, err := t.root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|plainfile.DirectoryOnly, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	return readEntries(f, limit)
}

func (t *dirTree) stat(name string) (fs.FileInfo, error) {
	return t.root.Stat(filepath.FromSlash(name))
}

func (t *dirTree) open(name string) (fs.File, error) {
	return t.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|plainfile.NonBlock, 0)
}

// resolve reads links with slashes, as the paths of a tree are written.
func (t *dirTree) resolve(name string) (string, error) {
	lstat := func(name string) (fs.FileInfo, error) { return t.root.Lstat(filepath.FromSlash(name)) }
	readLink := func(name string) (string, error) {
		target, err := t.root.Readlink(filepath.FromSlash(name))
		return filepath.ToSlash(target), err
	}
	return resolveLinks(name, lstat, readLink)
}

func (t *dirTree) close() error { return t.root.Close() }

// readEntries reads at most limit entries of an opened directory.
func readEntries(f fs.ReadDirFile, limit int) ([]fs.DirEntry, bool, error) {
	var all []fs.DirEntry
	for {
		entries, err := f.ReadDir(1024)
		all = append(all, entries...)
		if len(all) > limit {
			return all[:limit], true, nil
		}
		if errors.Is(err, io.EOF) {
			return all, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}
