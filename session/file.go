package session

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// errIrregular reports something that is not a plain file of a size we write.
var errIrregular = errors.New("not a regular file of at most 16 MiB")

// readRegular reads a whole file. Pipes, devices, links and oversized files are
// refused with errIrregular without being read; a missing file is
// fs.ErrNotExist.
func readRegular(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, irregular(name, info)
	}
	f, err := root.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Once more on the open file: the name may mean something else by now.
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, irregular(name, info)
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, err
	}
	if b.Len() > maxFile { // it grows while we read
		return nil, irregular(name, info)
	}
	return b.Bytes(), nil
}

func irregular(name string, info fs.FileInfo) error {
	return fmt.Errorf("read %q (%v, %d bytes): %w", name, info.Mode().Type(), info.Size(), errIrregular)
}

// openDir opens a directory. What is not one is ErrDamaged.
func openDir(root *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, fmt.Errorf("open %q: %w: not a directory", name, ErrDamaged)
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, nil, err
	}
	if info, err = dir.Stat("."); err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	return dir, info, nil
}

// listNames returns the names in a directory in no order.
func listNames(root *os.Root, name string) ([]string, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("list %q: %w: not a directory", name, ErrDamaged)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// writeNew writes a file that must not exist yet, durable when sync is set.
// Nothing is left behind when it fails.
func writeNew(root *os.Root, name string, data []byte, sync bool) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// freshName returns a name that nobody has used.
func freshName(prefix string) string { return prefix + rand.Text() }

// exists reports whether name exists in any form.
func exists(root *os.Root, name string) (bool, error) {
	_, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
