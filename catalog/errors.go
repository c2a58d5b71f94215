package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// The errors of the methods of [Catalog]. They are wrapped with the names that they
// are about.
var (
	// ErrUnknownSkill: the catalog holds no skill of that name.
	ErrUnknownSkill = errors.New("unknown skill")
	// ErrUnknownDoc: the skill has no doc of that name.
	ErrUnknownDoc = errors.New("unknown doc")
	// ErrPath: the path leaves the place that the skill may read.
	ErrPath = errors.New("path leaves the skill")
	// errNotRegular: the path names a directory, device, pipe or socket.
	errNotRegular = errors.New("not a regular file")
	// errTooLarge: the file is larger than the limit for its kind.
	errTooLarge = errors.New("file too large")
	// ErrNotExist: the file does not exist (any more). It is fs.ErrNotExist.
	ErrNotExist = fs.ErrNotExist
	// ErrClosed: the catalog has been closed. It is fs.ErrClosed.
	ErrClosed = fs.ErrClosed
)

// escapes is the text of the error with which os.Root refuses a path or link that
// leaves the root. Package os does not export that error.
const escapes = "path escapes from parent"

// cause turns an error of a file system into the matching error of this package, if
// there is one. It removes the operation and the path, which callers add
// themselves.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	switch {
	case err.Error() == escapes:
		return ErrPath
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return ErrNotExist
	case errors.Is(err, fs.ErrClosed):
		return ErrClosed
	}
	return err
}

// fileError adds to an error which file of which skill it is about.
func fileError(skill, file string, err error) error {
	return fmt.Errorf("catalog: skill %q: file %q: %w", skill, file, cause(err))
}

// tooLarge says how large a file may be.
func tooLarge(limit int64) error {
	return fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
}

// isClosed reports the error of a tree that has been closed.
func isClosed(err error) bool { return errors.Is(err, fs.ErrClosed) }
