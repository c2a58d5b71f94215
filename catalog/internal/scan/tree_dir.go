package scan

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

// DirTree is a directory of the operating system. os.Root keeps every path and
// every link inside it, even if they change meanwhile.
type DirTree struct {
	root *os.Root
	Info fs.FileInfo // of the directory, to notice that it was swapped

	mu     sync.Mutex
	listed map[string]listedDir // the directories that were listed since Remember, or nil
}

type listedDir struct {
	entries []fs.DirEntry
	cut     bool
}

// Remember keeps the listings of directories until forget is called, because one search reads
// some directories twice.
func (t *DirTree) Remember() (forget func()) {
	set := func(listed map[string]listedDir) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.listed = listed
	}
	set(make(map[string]listedDir))
	return func() { set(nil) }
}

func openDirTree(path string) (*DirTree, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return newDirTree(root)
}

func newDirTree(root *os.Root) (*DirTree, error) {
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &DirTree{root: root, Info: info}, nil
}

// ReadDir returns at most limit entries of a directory, and whether there are more.
func (t *DirTree) ReadDir(dir string, limit int) (entries []fs.DirEntry, cut bool, err error) {
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

// Stat describes a file, and follows links within the tree.
func (t *DirTree) Stat(name string) (fs.FileInfo, error) {
	return t.root.Stat(filepath.FromSlash(name))
}

// Open opens a file, and follows links within the tree.
func (t *DirTree) Open(name string) (fs.File, error) {
	return t.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|plainfile.NonBlock, 0)
}

// Resolve returns the path that name stands for after all links were followed.
func (t *DirTree) Resolve(name string) (string, error) {
	lstat := func(name string) (fs.FileInfo, error) { return t.root.Lstat(filepath.FromSlash(name)) }
	readLink := func(name string) (string, error) {
		target, err := t.root.Readlink(filepath.FromSlash(name))
		return filepath.ToSlash(target), err
	}
	return resolveLinks(name, lstat, readLink)
}

// Close closes the tree.
func (t *DirTree) Close() error { return t.root.Close() }

// readEntries reads at most limit entries of an opened directory.
func readEntries(f fs.ReadDirFile, limit int) ([]fs.DirEntry, bool, error) {
	var all []fs.DirEntry
	for {
		entries, err := f.ReadDir(listedAtOnce)
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

// FS returns the directory as a file system.
func (t *DirTree) FS() fs.FS { return t.root.FS() }
