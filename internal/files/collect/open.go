package collect

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

var (
	// ErrName reports a name that no collected file can have.
	ErrName = plainfile.ErrName
	// ErrIrregular reports a file that must not be read. That is a directory, link, pipe,
	// socket or device, a file with a second hard link, or a file that was exchanged while it
	// was being opened.
	ErrIrregular = plainfile.ErrIrregular
)

// Tree is the part of a workspace that this package reads; every
// workspace.Workspace is one. Names are slash paths relative to the tree, and
// "." is the tree itself.
type Tree interface {
	// Lstat describes a file or directory. It does not follow a symbolic link.
	Lstat(name string) (fs.FileInfo, error)
	// Open opens a plain file, or a directory as an [fs.ReadDirFile]. It follows
	// no symbolic link and never waits for a writer. The open file stays in the
	// tree whatever is moved meanwhile. For everything else the error wraps
	// [ErrIrregular], and for a malformed name [ErrName].
	Open(name string) (fs.File, error)
}

// Dir returns the tree below root. On systems without unix file information it cannot recognise
// hard links.
func Dir(root *os.Root) Tree { return plainfile.Tree{Root: root} }

// Open opens a plain file of a tree to be read from beginning to end. The name is
// a slash path as in [File]; a bad one is [ErrName]. A directory, and anything
// else that is not a plain file, is [ErrIrregular].
func Open(tree Tree, name string) (io.ReadCloser, error) {
	f, _, err := openFile(tree, name)
	if err != nil {
		return nil, fmt.Errorf("open output %.200q: %w", name, plainfile.Cause(err))
	}
	return f, nil
}

func openFile(tree Tree, name string) (fs.File, fs.FileInfo, error) {
	if name == "." {
		return nil, nil, ErrName
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = plainfile.CheckFile(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func openDir(tree Tree, name string) (fs.ReadDirFile, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if list, ok := f.(fs.ReadDirFile); ok && err == nil && info.IsDir() {
		return list, nil
	}
	f.Close()
	return nil, cmp.Or(err, ErrIrregular)
}
