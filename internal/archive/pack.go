package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
)

// File is a file to pack.
type File struct {
	Name       string // its path in the archive
	Size       int64
	Executable bool
	Open       func() (io.ReadCloser, error)
}

// Pack writes a .tar.gz. Its bytes depend only on the names, modes and contents of the files, in
// their order. The modes are 0644 and 0755.
func Pack(ctx context.Context, to io.Writer, files []File) error {
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zipped)
	for i := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := files[i].write(w); err != nil {
			return fmt.Errorf("%s: %w", files[i].Name, err)
		}
	}
	return errors.Join(w.Close(), zipped.Close())
}

func (f *File) write(w *tar.Writer) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	h := &tar.Header{Name: f.Name, Typeflag: tar.TypeReg, Size: f.Size, Mode: 0o644, Format: tar.FormatPAX}
	if f.Executable {
		h.Mode = 0o755
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(w, in, f.Size)
	return err
}
