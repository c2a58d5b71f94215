package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Errors of this package, wrapped with the operand that they are about. Their
// texts say what is allowed instead and are fit for a model: they contain no path
// of the host except those that the caller or [WithHostDirs] named.
var (
	// ErrPath: a path is malformed, leaves its place, or passes a link.
	ErrPath = errors.New("path is not allowed")
	// ErrSource: the source of an input is unknown or not enabled.
	ErrSource = errors.New("source is not allowed")
	// ErrMode: the mode of an input is neither copy nor link.
	ErrMode = errors.New("unknown mode")
	// ErrName: a skill or session without a usable name.
	ErrName = errors.New("unusable name")
	// ErrNotRegular: something is neither a file nor a directory, or is the wrong
	// one of the two.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: a file is larger, or a tree has more files, than allowed.
	ErrTooLarge = errors.New("too large")
	// ErrFull: the workspace, or all of them together, have reached their maximum
	// size.
	ErrFull = errors.New("workspace is full")
	// ErrTaken: the target exists and cannot be replaced.
	ErrTaken = errors.New("target is taken")
	// ErrNotExist: there is no such file. It is fs.ErrNotExist.
	ErrNotExist = fs.ErrNotExist
	// ErrClosed: the workspace, or all of them, have ended. It is fs.ErrClosed.
	ErrClosed = fs.ErrClosed
)

// escapes is the text of os.Root's error for a path or link that leaves the
// root; package os does not export the value.
const escapes = "path escapes from parent"

// cause turns an error of the file system into one of this package if there is a
// matching one. It removes the operation and the path, which may be one of the
// host and which callers add themselves.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	} else if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		err = linkErr.Err
	}
	switch {
	case err.Error() == escapes:
		return fmt.Errorf("%w: it leads out through a link", ErrPath)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%w: too many links", ErrPath)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return ErrNotExist
	}
	return err
}
