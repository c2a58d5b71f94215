package chattest

import (
	"io/fs"
	"maps"
	"sync"
	"testing/fstest"
)

// Files is a file system that may be written while it is read, as a disk may: the
// catalog reads it in the background too.
type Files struct {
	mu   sync.RWMutex
	tree fstest.MapFS
}

// Open implements fs.FS. What it opens stays as it is.
func (f *Files) Open(name string) (fs.File, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.tree.Open(name)
}

func (f *Files) put(name string, file *fstest.MapFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tree[name] = file
}

func (f *Files) remove(these func(name string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.tree, func(name string, _ *fstest.MapFile) bool { return these(name) })
}
