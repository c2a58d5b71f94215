package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// openEntry opens the files of a skill that a source has listed. A source that has
// listed the files is asked only for those that are read.
func openEntry(ctx context.Context, s Source, e *Entry) (tree, error) {
	t := &listedTree{ctx: ctx, source: s, entry: e}
	if e.Files != nil {
		t.index()
		return t, nil
	}
	fsys, err := s.Open(ctx, e.ID, e.Revision)
	if err != nil {
		return nil, err
	}
	return &fsTree{fsys: fsys}, nil
}

// listedTree is the tree of a skill whose files were listed. It is used by one
// goroutine for one call.
type listedTree struct {
	ctx    context.Context
	source Source
	entry  *Entry
	fsys   fs.FS // nil until a file is opened
	nodes  map[string]*listedNode
}

// listedNode is a file or a directory of a listedTree, and the fs.FileInfo and
// fs.DirEntry of it.
type listedNode struct {
	name    string
	file    *File // nil for a directory
	entries []fs.DirEntry
}

func (n *listedNode) Name() string               { return n.name }
func (n *listedNode) IsDir() bool                { return n.file == nil }
func (n *listedNode) Type() fs.FileMode          { return n.Mode().Type() }
func (n *listedNode) Info() (fs.FileInfo, error) { return n, nil }
func (n *listedNode) ModTime() time.Time         { return time.Time{} }
func (n *listedNode) Sys() any                   { return nil }

func (n *listedNode) Mode() fs.FileMode {
	if n.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

func (n *listedNode) Size() int64 {
	if n.IsDir() {
		return 0
	}
	return n.file.Size
}

func (t *listedTree) index() {
	t.nodes = map[string]*listedNode{".": {name: "."}}
	for i := range t.entry.Files {
		f := &t.entry.Files[i]
		if t.nodes[f.Path] == nil {
			t.add(&listedNode{name: path.Base(f.Path), file: f}, f.Path)
		}
	}
}

// add adds a node and the directories above it. Below a file there is nothing.
func (t *listedTree) add(n *listedNode, name string) {
	dir := path.Dir(name)
	if t.nodes[dir] == nil {
		t.add(&listedNode{name: path.Base(dir)}, dir)
	}
	if parent := t.nodes[dir]; parent.IsDir() {
		t.nodes[name] = n
		parent.entries = append(parent.entries, n)
	}
}

func (t *listedTree) find(name string) (*listedNode, error) {
	if n := t.nodes[path.Clean(name)]; n != nil {
		return n, nil
	}
	return nil, ErrNotExist
}

func (t *listedTree) readDir(dir string, limit int) ([]fs.DirEntry, bool, error) {
	n, err := t.find(dir)
	if err != nil {
		return nil, false, err
	}
	return slices.Clone(n.entries[:min(len(n.entries), limit)]), len(n.entries) > limit, nil
}

func (t *listedTree) stat(name string) (fs.FileInfo, error) {
	n, err := t.find(name)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// open reads the whole file and compares it with what was listed, so that nobody is
// given bytes that turn out to be others.
func (t *listedTree) open(name string) (fs.File, error) {
	n, err := t.find(name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return nil, ErrNotRegular
	}
	if n.file.Size > maxListedLen {
		return nil, tooLarge(maxListedLen)
	}
	if t.fsys == nil {
		if t.fsys, err = t.source.Open(t.ctx, t.entry.ID, t.entry.Revision); err != nil {
			return nil, err
		}
	}
	f, err := t.fsys.Open(n.file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrDigest
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(whileAlive{t.ctx, f}, n.file.Size+1)); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	if int64(b.Len()) != n.file.Size || !strings.EqualFold(n.file.SHA256, hex.EncodeToString(sum[:])) {
		return nil, ErrDigest
	}
	return &listedFile{n, bytes.NewReader(b.Bytes())}, nil
}

func (t *listedTree) resolve(name string) (string, error) { return name, nil }

func (t *listedTree) close() error { return nil }

// listedFile is an open file of a listedTree, in memory.
type listedFile struct {
	node *listedNode
	*bytes.Reader
}

func (f *listedFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *listedFile) Close() error               { return nil }
