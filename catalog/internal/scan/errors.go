package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/satchel-go/satchel/internal/text/printable"
)

var (
	// ErrPath reports a path outside the files that the skill may read.
	ErrPath = errors.New("path leaves the skill")
	// ErrNotRegular reports a path that names a directory, device, pipe or socket.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge reports a file that is larger than the limit for its kind.
	ErrTooLarge = errors.New("file too large")
)

// escapes is the text of the error with which os.Root refuses a path or link that
// leaves the root. Package os does not export that error.
const escapes = "path escapes from parent"

// Cause maps an error of a file system to [ErrPath], fs.ErrNotExist or fs.ErrClosed, if one of
// them fits. It removes the operation and the path, which callers add themselves.
func Cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	switch {
	case err.Error() == escapes:
		return ErrPath
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fs.ErrNotExist
	case errors.Is(err, fs.ErrClosed):
		return fs.ErrClosed
	}
	return err
}

// TooLarge returns an [ErrTooLarge] that says how many bytes a file may have.
func TooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
}

// IsClosed reports whether err says that the tree was closed.
func IsClosed(err error) bool { return errors.Is(err, fs.ErrClosed) }

// Printable makes a path fit on one line of a message or a prompt: it replaces control and
// invisible characters and broken UTF-8 by U+FFFD.
func Printable(s string) string { return printable.Replaced(s) }

// IsControl reports whether a rune ends or disturbs a line of text.
func IsControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}
