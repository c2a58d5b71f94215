package outputs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/plainfile"
)

var (
	// ErrName reports a name that no collected file can have.
	ErrName = errors.New("invalid file name")
	// ErrIrregular reports a file that must not be read: a directory, link,
	// pipe, socket or device, a file with a second hard link, or one that was
	// exchanged for another during the look at it.
	ErrIrregular = errors.New("not a plain file of the workspace")
)

// Open opens a file of the workspace for reading the whole of it. Name is a
// slash path below root as in [File]; a bad one is [ErrName].
//
// What is opened is a regular file without a second hard link, reached without
// a symbolic link, and inside root whatever is moved about meanwhile; all else
// is [ErrIrregular]. Opening and reading never wait for a writer. The info is
// that of the open file. Systems without unix file information cannot tell hard
// links.
func Open(root *os.Root, name string) (io.ReadCloser, os.FileInfo, error) {
	f, info, err := openChecked(root, name)
	if err != nil {
		return nil, nil, fmt.Errorf("open output %.200q: %w", name, cause(err))
	}
	return f, info, nil
}

func openChecked(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			return nil, nil, irregular(info)
		}
	}
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkPlain(seen); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, nil, err
	}
	// The name may mean something else by now; from here on the file counts.
	info, err := f.Stat()
	if err == nil {
		err = checkPlain(info)
	}
	if err == nil && !os.SameFile(seen, info) {
		err = fmt.Errorf("%w: it was exchanged", ErrIrregular)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// checkName admits relative slash paths that are one line of text.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Count(name, "/") >= maxDepth {
		return ErrName
	}
	return checkElement(name)
}

// checkElement tells whether a name can be shown and written in JSON as it is.
func checkElement(name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("%w: not valid UTF-8", ErrName)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return fmt.Errorf("%w: it has control characters", ErrName)
	}
	return nil
}

func checkPlain(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return irregular(info)
	}
	if n := hardLinks(info); n > 1 {
		return fmt.Errorf("%w: the file has %d hard links", ErrIrregular, n)
	}
	return nil
}

func irregular(info fs.FileInfo) error {
	return fmt.Errorf("%w: it is %s", ErrIrregular, plainfile.Kind(info.Mode()))
}
