package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// documentFile is the file with the bytes of a document, in the folder of its digest.
const documentFile = "document.json"

// Document returns a JSON document at an address. It caches and asks again as [Cache.Get] does.
// Of opts.Limits only MaxDownload counts. stale says why the server was not asked successfully,
// if the document is the one that was fetched last.
func (c *Cache) Document(ctx context.Context, address string, opts Options) (data []byte, stale, err error) {
	opts.document = true
	got, err := c.Get(ctx, address, opts)
	if err != nil {
		return nil, nil, err
	}
	data, err = os.ReadFile(filepath.Join(got.Dir, documentFile))
	return data, got.Stale, err
}

// copyDocument copies a download of size bytes to a file if it is JSON.
func copyDocument(in io.ReaderAt, size int64, to string) error {
	data, err := io.ReadAll(io.NewSectionReader(in, 0, size))
	if err != nil {
		return err
	}
	if !json.Valid(data) {
		return fmt.Errorf("%w: it is no JSON", ErrRefused)
	}
	return os.WriteFile(to, data, 0o600)
}
