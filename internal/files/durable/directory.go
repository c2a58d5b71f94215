package durable

import (
	"errors"
	"io/fs"
	"os"
)

// OpenDir opens a directory. The info describes the opened directory. The error
// is [ErrIrregular] if name is something else.
func OpenDir(root *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	if err := CheckDir(root, name); err != nil {
		return nil, nil, err
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := dir.Stat(".")
	if err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	return dir, info, nil
}

// List returns the names in a directory in no particular order. The error is
// [ErrIrregular] if it is not a directory.
func List(root *os.Root, name string) ([]string, error) {
	if err := CheckDir(root, name); err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// CheckDir returns [ErrIrregular] if name is not a directory.
func CheckDir(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = irregular(name, info)
	}
	return err
}

// Exists reports whether name exists, whatever kind of file it is.
func Exists(root *os.Root, name string) (bool, error) {
	_, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// InPlace reports whether name is still the file that info describes. The caller must keep that
// file open, because the system may give the inode of a deleted file to another one.
func InPlace(root *os.Root, name string, info fs.FileInfo) (bool, error) {
	now, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(now, info), err
}

// Place renames the directory temp to name. The error is fs.ErrExist if name is
// taken by anything but an empty directory, and fs.ErrNotExist if temp or the
// parent directory of name is gone.
func Place(root *os.Root, temp, name string) error {
	err := root.Rename(temp, name)
	if err == nil {
		return nil
	}
	isTaken, _ := Exists(root, name) // systems differ in the error
	if hasTemp, _ := Exists(root, temp); isTaken && hasTemp {
		return fs.ErrExist
	}
	return err
}
