package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// ErrIrregular reports a file that no store can have written: a pipe, a link, a device, or a
// file that is too large. It also reports a file in the place of a directory, or the reverse.
var ErrIrregular = errors.New("not what the store writes")

// OpenRegular opens a regular file and returns its size. Anything else is
// [ErrIrregular], and opening it does not block.
func OpenRegular(root *os.Root, name string) (*os.File, int64, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, irregular(name, info)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, 0, err
	}
	// Check the open file too: the name may lead to another file by now.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = irregular(name, info)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Read returns the whole content of a regular file. A file of more than limit bytes
// is [ErrIrregular] too.
func Read(root *os.Root, name string, limit int64) ([]byte, error) {
	f, size, err := OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if size <= limit {
		b.Grow(int(size) + bytes.MinRead)
		if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
			return nil, err
		}
	}
	if size = max(size, int64(b.Len())); size > limit { // it may grow while it is being read
		return nil, fmt.Errorf("%w: %q has %d bytes, at most %d are read", ErrIrregular, name, size, limit)
	}
	return b.Bytes(), nil
}

// WriteNew makes a file that must not exist yet. If sync is set, the file has
// reached the disk when WriteNew returns. If WriteNew fails, no file is left.
func WriteNew(root *os.Root, name string, sync bool, write func(io.Writer) error) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return nil
	}
	if removeErr := root.Remove(name); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

func irregular(name string, info fs.FileInfo) error {
	return fmt.Errorf("%w: %q is %s", ErrIrregular, name, plainfile.Kind(info.Mode()))
}
