package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// Copy copies content to w, as every Save does, and sets the size and the digest of i. Content
// of more than limit bytes is the error tooMuch, and a reader that returns nothing many times
// is io.ErrNoProgress. Copy holds 64 KiB of the content.
func (i *Info) Copy(ctx context.Context, w io.Writer, content io.Reader, limit int64, tooMuch error) error {
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	// One byte beyond the limit is enough to know.
	buf := make([]byte, min(limit, bufferSize-1)+1)
	for empty := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := content.Read(buf)
		if empty++; n > 0 {
			empty = 0
		}
		if i.Size += int64(n); i.Size > limit {
			return tooMuch
		}
		if _, writeErr := both.Write(buf[:n]); writeErr != nil {
			return writeErr
		}
		if err == nil && empty >= maxEmptyReads {
			err = io.ErrNoProgress
		}
		if err == io.EOF {
			i.Digest = hex.EncodeToString(sum.Sum(nil))
			return nil
		}
		if err != nil {
			return fmt.Errorf("read content: %w", err)
		}
	}
}

// verified reads content. Instead of the end it returns [ErrDamaged] if the
// content is not what info describes.
type verified struct {
	io.ReadCloser
	info Info
	size int64
	sum  hash.Hash
}

// Verify returns a reader of content that a store has kept as i. In place of the end it fails
// with [ErrDamaged] if the content is not what was saved.
func (i Info) Verify(r io.ReadCloser) io.ReadCloser {
	return &verified{ReadCloser: r, info: i, sum: sha256.New()}
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if v.size += int64(n); v.size > v.info.Size {
		return n, v.damaged("it is longer than it was")
	}
	if err == io.EOF && hex.EncodeToString(v.sum.Sum(nil)) != v.info.Digest {
		return n, v.damaged("the digest is another one")
	}
	return n, err
}

func (v *verified) damaged(how string) error {
	return fmt.Errorf("read %s: %w: %s", v.info, ErrDamaged, how)
}
