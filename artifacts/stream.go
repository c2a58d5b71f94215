package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

const (
	// bufferSize is how much of the content is in memory while it is stored.
	bufferSize = 64 << 10
	// maxEmptyReads is how many reads in a row may return nothing before the
	// reader counts as stuck.
	maxEmptyReads = 100
)

// Copy copies content to w, as every Save does, and completes info with its size and digest.
// Content of more than limit bytes is the error tooMuch, and a reader that returns nothing many
// times is io.ErrNoProgress. Copy holds 64 KiB of the content.
func Copy(ctx context.Context, w io.Writer, info *Info, content io.Reader, limit int64, tooMuch error) error {
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
		if info.Size += int64(n); info.Size > limit {
			return tooMuch
		}
		if _, writeErr := both.Write(buf[:n]); writeErr != nil {
			return writeErr
		}
		if err == nil && empty >= maxEmptyReads {
			err = io.ErrNoProgress
		}
		if err == io.EOF {
			info.Digest = hex.EncodeToString(sum.Sum(nil))
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

// Verify reads content that a store has kept as info, and fails with [ErrDamaged] in
// place of the end when it is not what was saved.
func Verify(r io.ReadCloser, info Info) io.ReadCloser {
	return &verified{ReadCloser: r, info: info, sum: sha256.New()}
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
