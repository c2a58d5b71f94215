package durable

import (
	"errors"
	"io/fs"
	"os"
)

// OpenDir opens a directory. The info is that of the open one. What is not a
// directory is [ErrIrregular].
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

// List returns the names in a directory in no order. What is not a directory is
// [ErrIrregular].
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

// CheckDir returns [ErrIrregular] for what is not a directory.
func CheckDir(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = irregular(name, info)
	}
	return err
}

// Exists reports whether name exists in any form.
func Exists(root *os.Root, name string) (bool, error) {
	_, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// InPlace reports whether name still is what info describes, which must be open
// for as long: else its number on the disk may be another's by now.
func InPlace(root *os.Root, name string, info fs.FileInfo) (bool, error) {
	now, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(now, info), err
}

// Place gives the directory temp its name. The error is fs.ErrExist when
// something that is not an empty directory has the name, and fs.ErrNotExist
// when temp or the directory of name is gone.
func Place(root *os.Root, temp, name string) error {
	err := root.Rename(temp, name)
	if err == nil {
		return nil
	}
	taken, _ := Exists(root, name) // systems differ in the error
	if there, _ := Exists(root, temp); taken && there {
		return fs.ErrExist
	}
	return err
}
