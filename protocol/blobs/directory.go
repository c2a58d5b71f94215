package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// OpenDirectory opens a store in a directory and counts the blobs in it. If the directory does not
// exist, OpenDirectory makes it with mode 0700. Each tenant has a folder there. The caller closes
// the store after use.
func OpenDirectory(dir string, quota Quota) (*FileStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	store, err := OpenFiles(context.Background(), directoryFiles{root}, quota)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	store.closer = root
	return store, nil
}

// directoryFiles implements Files over a directory.
type directoryFiles struct{ root *os.Root }

// newSuffix ends the name of a file that is being written.
const newSuffix = ".new"

// Write implements [Files]. It renames the file to its name when it is on the disk.
func (d directoryFiles) Write(_ context.Context, name string, write func(io.Writer) error) (err error) {
	dir := path.Dir(name)
	if err := d.root.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("blobs: %w", err)
	}
	f, err := d.root.OpenFile(name+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("blobs: %w", err)
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.root.Rename(name+newSuffix, name)
	}
	if err != nil {
		_ = d.root.Remove(name + newSuffix)
		return err
	}
	return d.sync(dir)
}

// sync makes a rename in a directory durable.
func (d directoryFiles) sync(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	_ = f.Sync() // some file systems cannot sync directories
	return f.Close()
}

// Open implements [Files].
func (d directoryFiles) Open(_ context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if length < 0 {
		return f, nil
	}
	return part{io.LimitReader(f, length), f}, nil
}

// part is a part of a file.
type part struct {
	io.Reader
	io.Closer
}

// Remove implements [Files].
func (d directoryFiles) Remove(_ context.Context, name string) error { return d.root.Remove(name) }

// List implements [Files].
func (d directoryFiles) List(ctx context.Context, do func(name string, written time.Time) error) error {
	tenants, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if !tenant.IsDir() {
			continue
		}
		files, err := fs.ReadDir(d.root.FS(), tenant.Name())
		if err != nil {
			return err
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				continue // the file has just been removed
			}
			if err := errors.Join(ctx.Err(), do(path.Join(tenant.Name(), f.Name()), info.ModTime())); err != nil {
				return err
			}
		}
	}
	return nil
}
