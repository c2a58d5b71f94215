package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// openDir opens a slash-separated path below root without following links:
// os.Root keeps the path inside the workspace, but a link could still lead from
// work/ to the skills. With create, it makes missing directories. The caller
// closes the result.
func openDir(root *os.Root, rel string, create bool) (*os.Root, error) {
	current, owned := root, false
	for part := range strings.SplitSeq(path.Clean(rel), "/") {
		next, err := openStep(current, part, create)
		if owned {
			current.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", rel, err)
		}
		current, owned = next, true
	}
	return current, nil
}

func openStep(dir *os.Root, name string, create bool) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := dir.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, cause(err)
		}
		info, err = dir.Lstat(name)
	}
	if err != nil {
		return nil, cause(err)
	}
	if !info.IsDir() {
		return nil, notDirectory(name, info.Mode())
	}
	// The dot makes it open directories only: it would block on a pipe that was
	// swapped in.
	next, err := dir.OpenRoot(name + "/.")
	if err != nil {
		return nil, cause(err)
	}
	// Check that the opened directory is the one that was looked at, because a
	// command may swap the two.
	opened, err := next.Stat(".")
	if err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, fmt.Errorf("%w: %q changed meanwhile", ErrPath, name)
	}
	return next, nil
}

func notDirectory(name string, mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		return fmt.Errorf("%w: %q is a link", ErrPath, name)
	}
	return fmt.Errorf("%w: %q is %s, not a directory", ErrTaken, name, plainfile.Kind(mode))
}

// placeFile makes a file called name in dir. The file gets its name when fill has
// written it completely. A file or link of that name is replaced, never written
// through; a directory is [ErrTaken].
func placeFile(dir *os.Root, name string, mode fs.FileMode, fill func(*os.File) error) (err error) {
	info, err := dir.Lstat(name)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%w: %q is a directory; end the path with the name of a file in it", ErrTaken, name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cause(err)
	}
	temp := freshName(newPrefix)
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cause(err)
	}
	defer func() {
		if err != nil {
			dir.Remove(temp)
		}
	}()
	if err := errors.Join(withoutPath(f, fill(f)), withoutPath(f, f.Chmod(mode)), withoutPath(f, f.Close())); err != nil {
		return err
	}
	if err := dir.Rename(temp, name); err != nil {
		return cause(err)
	}
	return nil
}

// withoutPath removes the name of f, a path of the host, from an error about it.
// Errors of the source of f stay as they are.
func withoutPath(f *os.File, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && pathErr.Path == f.Name() {
		return pathErr.Err
	}
	return err
}
