package scan

import (
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// FSTree is any file system. If the file system can read links they are resolved
// here and refused when they leave it, because an os.DirFS would follow them
// anywhere.
type FSTree struct{ FS fs.FS }

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

func (t *FSTree) Stat(name string) (fs.FileInfo, error) {
	resolved, err := t.Resolve(name)
	if err != nil {
		return nil, err
	}
	return fs.Stat(t.FS, resolved)
}

func (t *FSTree) Open(name string) (fs.File, error) {
	resolved, err := t.Resolve(name)
	if err != nil {
		return nil, err
	}
	return t.FS.Open(resolved)
}

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
