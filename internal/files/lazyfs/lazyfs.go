// Package lazyfs provides a file system over a list of files. A file's content is read when the
// file is opened.
package lazyfs

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// File describes one file.
type File struct {
	Path       string // valid for fs.ValidPath
	Size       int64
	Executable bool
}

// New returns a file system of the files. Of several files with one path the first counts. A
// path below a file is ignored. read returns the whole content of a file; it may be called
// concurrently.
func New(files []File, read func(path string) ([]byte, error)) fs.FS {
	t := &tree{read: read, nodes: map[string]*node{".": {name: "."}}}
	for i := range files {
		if t.nodes[files[i].Path] == nil {
			t.add(files[i].Path, &node{name: path.Base(files[i].Path), file: &files[i]})
		}
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.children, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t
}

type tree struct {
	read  func(string) ([]byte, error)
	nodes map[string]*node
}

// node is a file or a directory. It implements fs.FileInfo and fs.DirEntry.
type node struct {
	name     string
	file     *File // nil for a directory
	children []fs.DirEntry
}

func (n *node) Name() string               { return n.name }
func (n *node) IsDir() bool                { return n.file == nil }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) ModTime() time.Time         { return time.Time{} }
func (n *node) Sys() any                   { return nil }

func (n *node) Mode() fs.FileMode {
	switch {
	case n.IsDir():
		return fs.ModeDir | 0o555
	case n.file.Executable:
		return 0o555
	}
	return 0o444
}

func (n *node) Size() int64 {
	if n.IsDir() {
		return 0
	}
	return n.file.Size
}

func (t *tree) add(name string, n *node) {
	dir := path.Dir(name)
	if t.nodes[dir] == nil {
		t.add(dir, &node{name: path.Base(dir)})
	}
	if parent := t.nodes[dir]; parent != nil && parent.IsDir() {
		t.nodes[name] = n
		parent.children = append(parent.children, n)
	}
}

// Stat implements fs.StatFS. It reads nothing.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	n, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (t *tree) find(op, name string) (*node, error) {
	if n := t.nodes[name]; n != nil && fs.ValidPath(name) {
		return n, nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return &openNode{node: n, Reader: bytes.NewReader(nil), left: n.children}, nil
	}
	data, err := t.read(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openNode{node: n, Reader: bytes.NewReader(data)}, nil
}

// openNode is an open file or directory.
type openNode struct {
	node *node
	*bytes.Reader
	left []fs.DirEntry
}

func (o *openNode) Stat() (fs.FileInfo, error) { return o.node, nil }
func (o *openNode) Close() error               { return nil }

// ReadDir implements fs.ReadDirFile.
func (o *openNode) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		out := o.left
		o.left = nil
		return out, nil
	}
	if len(o.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(o.left))
	out := o.left[:n]
	o.left = o.left[n:]
	return out, nil
}
