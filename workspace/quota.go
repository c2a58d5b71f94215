package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
)

// The bytes of a workspace are counted up as they are staged and never down:
// what a command removes or replaces is only known by looking. So when the
// count exceeds the maximum, the workspace is measured and the count starts
// from there.

// charge counts n bytes that have just been written.
func (ws *Workspace) charge(ctx context.Context, n int64) error {
	if ws.count(n) {
		return nil
	}
	if _, err := ws.Usage(ctx); err != nil {
		return err
	}
	if ws.count(0) { // the measurement has found them
		return nil
	}
	return fmt.Errorf("%w: it may hold %d bytes", ErrFull, ws.owner.cfg.maxBytes)
}

// count adds n bytes and reports whether the workspace may hold so much.
func (ws *Workspace) count(n int64) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.used += n
	return ws.used <= ws.owner.cfg.maxBytes
}

// checkFileSize reports a file that is larger than a file may be.
func (ws *Workspace) checkFileSize(n int64) error {
	if limit := ws.owner.cfg.maxFileBytes; n > limit {
		return fmt.Errorf("%w: a file may have %d bytes", ErrTooLarge, limit)
	}
	return nil
}

// copyChunk is how much is written between looks at the context.
const copyChunk = 4 << 20

// fill copies src to its end into dst, within the limits, and returns how much
// that was. Between two files the system shares or copies the blocks itself
// where it can.
func (ws *Workspace) fill(ctx context.Context, dst *os.File, src io.Reader) (int64, error) {
	var total int64
	for {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		n, err := dst.ReadFrom(&io.LimitedReader{R: src, N: copyChunk})
		total += n
		if err != nil {
			return total, err
		}
		if n == 0 {
			return total, nil
		}
		if err := ws.checkFileSize(total); err != nil {
			return total, err
		}
		if err := ws.charge(ctx, n); err != nil {
			return total, err
		}
	}
}
