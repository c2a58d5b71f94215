package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// Copy copies content to w for a Save, and sets the size and the digest of i. It returns
// tooMuch for content of more than limit bytes, and io.ErrNoProgress if the reader returns
// nothing many times. It holds 64 KiB of the content in memory.
func (i *Info) Copy(ctx context.Context, w io.Writer, content io.Reader, limit int64, tooMuch error) error {
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	// One byte above the limit shows that the content is too long.
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

// verifier is the reader of [Info.Verify].
type verifier struct {
	io.ReadCloser
	info Info
	size int64
	sum  hash.Hash
}

// Verify returns a reader of the stored content r. At the end of r it fails with [ErrDamaged]
// if the content does not have the size and the digest of i.
func (i Info) Verify(r io.ReadCloser) io.ReadCloser {
	return &verifier{ReadCloser: r, info: i, sum: sha256.New()}
}

func (v *verifier) Read(p []byte) (int, error) {
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

func (v *verifier) damaged(how string) error {
	return fmt.Errorf("read %s: %w: %s", v.info, ErrDamaged, how)
}
