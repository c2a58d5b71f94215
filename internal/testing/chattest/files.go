package chattest

import (
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing/fstest"
	"time"
)

// Files is a file system in memory that may be written while it is read. The catalog reads it in
// the background.
type Files struct {
	mu   sync.RWMutex
	tree fstest.MapFS
	// tops holds the files grouped by the first element of their names. MapFS visits all
	// its files to open a directory, so small maps are faster.
	tops map[string]fstest.MapFS
}

// NewFiles returns a file system without files.
func NewFiles() *Files {
	return &Files{tree: fstest.MapFS{}, tops: map[string]fstest.MapFS{}}
}

// Open implements fs.FS. Later writes do not change an open file.
func (f *Files) Open(name string) (fs.File, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if top, ok := f.tops[topOf(name)]; ok {
		return top.Open(name)
	}
	return f.tree.Open(name)
}

// Put writes a file with a modification time.
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

// remove removes the files whose names match.
func (f *Files) remove(matches func(name string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	isMatch := func(name string, _ *fstest.MapFile) bool { return matches(name) }
	maps.DeleteFunc(f.tree, isMatch)
	for _, top := range f.tops {
		maps.DeleteFunc(top, isMatch)
	}
	maps.DeleteFunc(f.tops, func(_ string, top fstest.MapFS) bool { return len(top) == 0 })
}

func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}
