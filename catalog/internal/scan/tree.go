package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Tree is an opened root. Paths are slash-separated and relative to it; "." is the
// root itself. A link is followed only if its target is inside the root.
type Tree interface {
	// ReadDir lists a directory in no order, and reports whether the list was cut
	// at limit entries.
	ReadDir(dir string, limit int) (entries []fs.DirEntry, cut bool, err error)
	// Stat describes a file or directory; it follows links.
	Stat(name string) (fs.FileInfo, error)
	// Open opens a file. The caller has checked that it is regular. If a pipe has replaced it
	// meanwhile, Open does not block.
	Open(name string) (fs.File, error)
	// Resolve returns the path that name stands for after all links were followed.
	Resolve(name string) (string, error)
	Close() error
}

// OpenTree opens a place. It returns prev if the place is still the same directory, and nil for
// an optional root that does not exist.
func OpenTree(p Place, prev Tree) (Tree, error) {
	switch {
	case p.FS != nil:
		if prev != nil {
			return prev, nil
		}
		return &FSTree{FS: p.FS}, nil
	case p.Path == "":
		return nil, errors.New("no directory and no file system given")
	}
	// Stat first: opening a pipe would block.
	info, err := os.Stat(p.Path)
	if errors.Is(err, fs.ErrNotExist) && p.mayBeAbsent() {
		return nil, nil
	}
	if err != nil {
		return nil, p.explainOpenError(err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", p.Path)
	}
	if dir, ok := prev.(*DirTree); ok && os.SameFile(dir.Info, info) {
		return prev, nil
	}
	if p.Plugin != "" {
		return openPlugin(p)
	}
	return openDirTree(p.Path)
}

// OpenRegular opens a file and checks before and after opening it that it is a
// regular file of at most limit bytes.
func OpenRegular(t Tree, name string, limit int64) (fs.File, fs.FileInfo, error) {
	info, err := t.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := CheckRegular(info, limit); err != nil {
		return nil, nil, err
	}
	return OpenChecked(t, name, limit)
}

// OpenChecked is OpenRegular for a file that the caller has already checked.
func OpenChecked(t Tree, name string, limit int64) (fs.File, fs.FileInfo, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = CheckRegular(info, limit)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// CheckRegular returns the reason why a file must not be read, or nil.
func CheckRegular(info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s", ErrNotRegular, plainfile.Kind(info.Mode()))
	}
	if info.Size() > limit {
		return TooLarge(limit)
	}
	return nil
}

// ReadAll reads f. size is the expected number of bytes. It returns ErrTooLarge if there are more
// than limit.
func ReadAll(f fs.File, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, min(max(size, 0), limit)+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > limit {
			return nil, TooLarge(limit)
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

// Below joins a directory of a tree and the name of an entry. Names are not
// cleaned: they come from a listing and are not paths, see isName.
func Below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// isName reports whether a name in a listing is the name of a single entry. An fs.FS of the host
// may list any text.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/")
}

// WhileAlive is a reader of a file that fails when its context ends.
type WhileAlive struct {
	Context context.Context
	File    fs.File
}

// Read implements io.Reader.
func (r WhileAlive) Read(p []byte) (int, error) {
	if err := r.Context.Err(); err != nil {
		return 0, err
	}
	return r.File.Read(p)
}

// FSTree is the tree of any file system. If the file system can read links, FSTree resolves them
// and refuses those that leave it. An os.DirFS would follow them anywhere.
type FSTree struct{ FS fs.FS }

// ReadDir returns at most limit entries of a directory, and whether there are more.
func (t *FSTree) ReadDir(dir string, limit int) ([]fs.DirEntry, bool, error) {
	entries, err := fs.ReadDir(t.FS, dir)
	if err != nil {
		return nil, false, err
	}
	if len(entries) > limit {
		return entries[:limit], true, nil
	}
	return entries, false, nil
}

// Stat describes a file, and follows links within the tree.
func (t *FSTree) Stat(name string) (fs.FileInfo, error) {
	resolved, err := t.Resolve(name)
	if err != nil {
		return nil, err
	}
	return fs.Stat(t.FS, resolved)
}

// Open opens a file, and follows links within the tree.
func (t *FSTree) Open(name string) (fs.File, error) {
	resolved, err := t.Resolve(name)
	if err != nil {
		return nil, err
	}
	return t.FS.Open(resolved)
}

// Close closes the tree.
func (t *FSTree) Close() error { return nil }

// Resolve returns the path that name stands for after all links were followed.
func (t *FSTree) Resolve(name string) (string, error) {
	links, ok := t.FS.(fs.ReadLinkFS)
	if !ok {
		return name, nil
	}
	return resolveLinks(name, links.Lstat, links.ReadLink)
}

// resolveLinks follows the links in a path of a tree. A path that leaves the tree is
// ErrPath.
func resolveLinks(name string, lstat func(string) (fs.FileInfo, error), readLink func(string) (string, error)) (string, error) {
	done, rest := ".", strings.Split(name, "/")
	for followed := 0; len(rest) > 0; {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		if !fs.ValidPath(next) {
			return "", ErrPath
		}
		info, err := lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if followed++; followed > maxLinks {
			return "", syscall.ELOOP
		}
		target, err := readLink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			return "", ErrPath
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, nil
}
