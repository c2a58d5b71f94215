package source

import (
	"io/fs"
	"os"
	"path/filepath"
)

// unpackedFS is a directory of the cache as a file system that never leaves the directory.
type unpackedFS string

var _ fs.ReadLinkFS = unpackedFS("")

// Open implements [fs.FS].
func (d unpackedFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := os.OpenInRoot(string(d), filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadLink implements [fs.ReadLinkFS].
func (d unpackedFS) ReadLink(name string) (target string, err error) {
	err = d.in("readlink", name, func(r *os.Root) error {
		target, err = r.Readlink(filepath.FromSlash(name))
		return err
	})
	return filepath.ToSlash(target), err
}

// Lstat implements [fs.ReadLinkFS].
func (d unpackedFS) Lstat(name string) (info fs.FileInfo, err error) {
	err = d.in("lstat", name, func(r *os.Root) error {
		info, err = r.Lstat(filepath.FromSlash(name))
		return err
	})
	return info, err
}

// in calls do with the directory.
func (d unpackedFS) in(op, name string, do func(*os.Root) error) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}
