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

// Tree opens files in a directory to which other programs may write at any time. It follows no
// symbolic link, not even one that stays inside, and never waits for the writer of a pipe.
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
	before, err := t.lstatPath(name)
	if err != nil {
		return nil, err
	}
	f, err := t.Root.OpenFile(name, os.O_RDONLY|NonBlock, 0)
	if err != nil {
		return nil, err
	}
	// Another program may have replaced the file since lstatPath.
	if err := checkOpened(f, before); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lstatPath describes the file that a name leads to. It returns an error if a parent is no
// directory or the file is neither plain nor a directory.
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

// checkOpened returns an error if f is not the file that before describes.
func checkOpened(f *os.File, before fs.FileInfo) error {
	info, err := f.Stat()
	if err == nil {
		err = checkReadable(info)
	}
	if err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%w: it was exchanged", ErrIrregular)
	}
	return err
}

// checkName returns an error unless name is a relative slash path whose elements pass
// [CheckElement].
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Count(name, "/") >= MaxDepth {
		return ErrName
	}
	return CheckElement(name)
}

// CheckElement returns an error that wraps [ErrName] if a name cannot be shown on one line and
// written to JSON unchanged.
func CheckElement(name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("%w: not valid UTF-8", ErrName)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return fmt.Errorf("%w: it has control characters", ErrName)
	}
	return nil
}

// CheckFile returns an error that wraps [ErrIrregular] if info does not describe a plain file.
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

// Cause returns an error of the file system without its operation and path. The path may be
// one of the host, which a model must not see.
func Cause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

func irregular(info fs.FileInfo) error {
	return fmt.Errorf("%w: it is %s", ErrIrregular, Kind(info.Mode()))
}

// Prefixes of temporary names: of files that are being written, and of files that are about to
// be removed. A killed process leaves them behind. Every search for files skips them.
const (
	NewPrefix = ".satchel-new-"
	OldPrefix = ".satchel-old-"
)

// IsTemporary reports whether a name has one of these prefixes.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, NewPrefix) || strings.HasPrefix(name, OldPrefix)
}
