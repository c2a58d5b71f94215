package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// copyBlob copies r to w. It counts each part for the quota of the tenant before it writes it.
// After an error nothing counts.
func (q *quotas) copyBlob(ctx context.Context, tenant string, w io.Writer, r io.Reader, limit int64) (size int64, sum string, err error) {
	if err := q.take(tenant, 0, 1); err != nil {
		return 0, "", err
	}
	defer func() {
		if err != nil {
			q.add(tenant, -size, -1)
		}
	}()
	limit = min(limit, maxBlob)
	digest := sha256.New()
	buf := make([]byte, chunk)
	for {
		if err := ctx.Err(); err != nil {
			return size, "", err
		}
		n, readErr := io.ReadFull(r, buf)
		if n > 0 {
			if size+int64(n) > limit {
				return size, "", fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
			}
			if err := q.take(tenant, int64(n), 0); err != nil {
				return size, "", err
			}
			size += int64(n)
			_, _ = digest.Write(buf[:n])
			if _, err := w.Write(buf[:n]); err != nil {
				return size, "", err
			}
		}
		switch {
		case errors.Is(readErr, io.EOF), errors.Is(readErr, io.ErrUnexpectedEOF):
			return size, hex.EncodeToString(digest.Sum(nil)), nil
		case readErr != nil:
			return size, "", readErr
		}
	}
}

// section limits a range to a blob of size bytes. It returns where the range begins and how long it
// is.
func section(size, offset, length int64) (from, n int64) {
	offset = min(max(offset, 0), size)
	if length < 0 || length > size-offset {
		length = size - offset
	}
	return offset, length
}

// checkedReader reads a whole blob. At its end it returns ErrDamaged if the digest is wrong.
type checkedReader struct {
	io.ReadCloser
	info   Info
	digest hash.Hash
	size   int64
}

func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	_, _ = c.digest.Write(p[:n])
	c.size += int64(n)
	if errors.Is(err, io.EOF) && (c.size != c.info.Size || hex.EncodeToString(c.digest.Sum(nil)) != c.info.SHA256) {
		return n, fmt.Errorf("%w: %q", ErrDamaged, c.info.ID)
	}
	return n, err
}
