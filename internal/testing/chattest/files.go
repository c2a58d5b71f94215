package chattest

import (
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing/fstest"
	"time"
)

// Files is a file system that may be written while it is read, as a disk may: the
// catalog reads it in the background too.
type Files struct {
	mu   sync.RWMutex
	tree fstest.MapFS
	// tops are the parts of the tree by the first element of their names: a MapFS looks at
	// all of its files to open a directory.
	tops map[string]fstest.MapFS
}

// NewFiles returns a file system without files.
func NewFiles() *Files {
	return &Files{tree: fstest.MapFS{}, tops: map[string]fstest.MapFS{}}
}

// Open implements fs.FS. What it opens stays as it is.
func (f *Files) Open(name string) (fs.File, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if top, ok := f.tops[topOf(name)]; ok {
		return top.Open(name)
	}
	return f.tree.Open(name)
}

// Put writes a file as of that time.
func (f *Files) Put(name, text string, at time.Time) {
	file := &fstest.MapFile{Data: []byte(text), ModTime: at}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tree[name] = file
	top := topOf(name)
	if f.tops[top] == nil {
		f.tops[top] = fstest.MapFS{}
	}
	f.tops[top][name] = file
}

func (f *Files) remove(these func(name string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := func(name string, _ *fstest.MapFile) bool { return these(name) }
	maps.DeleteFunc(f.tree, gone)
	for _, top := range f.tops {
		maps.DeleteFunc(top, gone)
	}
	maps.DeleteFunc(f.tops, func(_ string, top fstest.MapFS) bool { return len(top) == 0 })
}

func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}
