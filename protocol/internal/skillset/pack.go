package skillset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/satchel-go/satchel/internal/archive"
)

// Pack writes the files of a skill of this machine as a .tar.gz. The same files give the same
// bytes. Each file is compared with the listing; the error of a file that differs wraps
// ErrChanged.
func (s *Skill) Pack(ctx context.Context, w io.Writer) error {
	files, err := s.source.Open(ctx, s.id, s.revision)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	all := make([]archive.File, len(s.Files))
	for i, f := range s.Files {
		info, err := fs.Stat(files, f.Path)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrChanged, err)
		}
		all[i] = archive.File{Name: f.Path, Size: f.Size, Executable: info.Mode()&0o111 != 0, Open: func() (io.ReadCloser, error) {
			text, err := readListed(files, f)
			return io.NopCloser(bytes.NewReader(text)), err
		}}
	}
	return archive.Pack(ctx, w, all)
}
