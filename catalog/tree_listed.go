package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
)

// openEntry opens the files of an entry of a source, for one call of the catalog. If the entry
// lists its files, only those that the caller reads are read from the source.
func openEntry(ctx context.Context, s source.Source, e *source.Entry) (scan.Tree, error) {
	if e.Files == nil {
		fsys, err := s.Open(ctx, e.ID, e.Revision)
		if err != nil {
			return nil, err
		}
		return &scan.FSTree{FS: fsys}, nil
	}
	files := make([]lazyfs.File, len(e.Files))
	for i, f := range e.Files {
		files[i] = lazyfs.File{Path: f.Path, Size: f.Size}
	}
	listed := &listedFiles{ctx: ctx, source: s, entry: e}
	return &scan.FSTree{FS: lazyfs.New(files, listed.read)}, nil
}

// listedFiles reads the files that an entry lists, and checks their digests.
type listedFiles struct {
	ctx    context.Context
	source source.Source
	entry  *source.Entry
	fsys   fs.FS // nil until a file is read
}

// read reads a whole file and compares it with the listing. So a caller never gets bytes of
// another revision.
func (l *listedFiles) read(name string) (_ []byte, err error) {
	file := l.entry.Files[slices.IndexFunc(l.entry.Files, func(f source.File) bool { return f.Path == name })]
	if file.Size > maxListedLen {
		return nil, scan.TooLarge(maxListedLen)
	}
	if l.fsys == nil {
		if l.fsys, err = l.source.Open(l.ctx, l.entry.ID, l.entry.Revision); err != nil {
			return nil, err
		}
	}
	f, err := l.fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, source.ErrDigest
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(scan.WhileAlive{Context: l.ctx, File: f}, file.Size+1)); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	if int64(b.Len()) != file.Size || !strings.EqualFold(file.SHA256, hex.EncodeToString(sum[:])) {
		return nil, source.ErrDigest
	}
	return b.Bytes(), nil
}
