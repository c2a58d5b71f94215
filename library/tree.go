package library

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// tree is the files of a skill as a file system. A file is read when it is opened.
type tree struct {
	ctx   context.Context
	skill *Skill
	nodes map[string]*node
}

// node is a file or a directory, and the fs.FileInfo and fs.DirEntry of it.
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

func newTree(ctx context.Context, s *Skill) *tree {
	t := &tree{ctx: ctx, skill: s, nodes: map[string]*node{".": {name: "."}}}
	for i := range s.Files {
		t.add(s.Files[i].Path, &node{name: path.Base(s.Files[i].Path), file: &s.Files[i]})
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.children, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t
}

func (t *tree) add(name string, n *node) {
	dir := path.Dir(name)
	if t.nodes[dir] == nil {
		t.add(dir, &node{name: path.Base(dir)})
	}
	t.nodes[name] = n
	t.nodes[dir].children = append(t.nodes[dir].children, n)
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	n := t.nodes[name]
	if n == nil || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if n.IsDir() {
		return &openNode{node: n, Reader: bytes.NewReader(nil), left: n.children}, nil
	}
	data, err := t.skill.read(t.ctx, *n.file)
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
