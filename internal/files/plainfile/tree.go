package plainfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrName reports a name that no file of a tree can have.
	ErrName = errors.New("invalid file name")
	// ErrIrregular reports something that is neither a plain file nor a
	// directory.
	ErrIrregular = errors.New("not a plain file of the workspace")
)

// Tree is a directory that other programs may write to at any time. Nothing is
// read through a symbolic link in it, not even one that stays inside, and no
// open waits for a writer.
type Tree struct{ Root *os.Root }

// Lstat describes a file or directory by its slash path. If the path ends in a
// symbolic link, it describes the link.
func (t Tree) Lstat(name string) (fs.FileInfo, error) { return t.Root.Lstat(name) }

// Open opens a plain file or a directory for reading. A plain file is a regular file with one
// name. If the system can tell, a second hard link makes it irregular, because the other name
// may be outside the tree. A directory is an [fs.ReadDirFile]. Errors wrap [ErrName],
// [ErrIrregular], or are those of the file system.
func (t Tree) Open(name string) (fs.File, error) {
	if name == "." {
		return t.Root.OpenFile(name, os.O_RDONLY|NonBlock, 0)
	}
	seen, err := t.lstatPath(name)
	if err != nil {
		return nil, err
	}
	f, err := t.Root.OpenFile(name, os.O_RDONLY|NonBlock, 0)
	if err != nil {
		return nil, err
	}
	// The name may mean something else by now. From here on, the open file counts.
	if err := checkOpened(f, seen); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lstatPath checks the directories that a name passes and describes the last
// element, which is a plain file or a directory.
func (t Tree) lstatPath(name string) (fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := t.Root.Lstat(name[:i])
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, irregular(info)
		}
	}
	info, err := t.Root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return info, checkReadable(info)
}

func checkOpened(f *os.File, seen fs.FileInfo) error {
	info, err := f.Stat()
	if err == nil {
		err = checkReadable(info)
	}
	if err == nil && !os.SameFile(seen, info) {
		err = fmt.Errorf("%w: it was exchanged", ErrIrregular)
	}
	return err
}

// checkName admits relative slash paths whose elements [CheckElement] admits.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Count(name, "/") >= MaxDepth {
		return ErrName
	}
	return CheckElement(name)
}

// CheckElement reports a name that cannot be shown on one line and written in
// JSON as it is. The error wraps [ErrName].
func CheckElement(name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("%w: not valid UTF-8", ErrName)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return fmt.Errorf("%w: it has control characters", ErrName)
	}
	return nil
}

// CheckFile reports a file whose description shows that it is not plain. The error wraps
// [ErrIrregular].
func CheckFile(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return irregular(info)
	}
	if n := hardLinks(info); n > 1 {
		return fmt.Errorf("%w: the file has %d hard links", ErrIrregular, n)
	}
	return nil
}

func checkReadable(info fs.FileInfo) error {
	if info.IsDir() {
		return nil
	}
	return CheckFile(info)
}

// Cause returns an error of the file system without the operation and the path, which
// may be one of the host.
func Cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

func irregular(info fs.FileInfo) error {
	return fmt.Errorf("%w: it is %s", ErrIrregular, Kind(info.Mode()))
}

// Beginnings of the names that Satchel gives, for a moment only, to what is not
// in its place yet and to what is about to be removed. A process that is killed
// leaves them behind. What looks for files passes over them.
const (
	NewPrefix = ".satchel-new-"
	OldPrefix = ".satchel-old-"
)

// IsTemporary reports a name with one of these beginnings.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, NewPrefix) || strings.HasPrefix(name, OldPrefix)
}
