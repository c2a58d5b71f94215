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
// from there. Those of all workspaces are counted along.

// charge counts n bytes that have just been written.
func (ws *Workspace) charge(ctx context.Context, n int64) error {
	ws.count(n)
	if ws.full() == nil {
		return nil
	}
	if _, err := ws.Usage(ctx); err != nil {
		return err
	}
	return ws.full()
}

// count adds n bytes.
func (ws *Workspace) count(n int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.setUsed(ws.used + n)
}

// setUsed notes how much the workspace holds. The caller holds the lock.
func (ws *Workspace) setUsed(n int64) {
	if ws.gone {
		return
	}
	ws.owner.total.Add(n - ws.used)
	ws.used = n
}

// uncount takes a workspace that is removed out of the total.
func (ws *Workspace) uncount() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.setUsed(0)
	ws.gone = true
}

// full says why nothing can be staged, nil if something can.
func (ws *Workspace) full() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	cfg := &ws.owner.cfg
	switch {
	case ws.used > cfg.maxBytes:
		return fmt.Errorf("%w: it holds %d bytes, and %d are allowed; remove files", ErrFull, ws.used, cfg.maxBytes)
	case cfg.left(ws.owner.total.Load()) < 0:
		return fmt.Errorf("%w: those of all sessions together have reached the %d bytes that are allowed; remove files, or try again when others have ended", ErrFull, cfg.maxTotal)
	}
	return nil
}

// refused is full for a workspace with so little in it that nothing would be
// won by letting a command remove it.
func (ws *Workspace) refused() error {
	err := ws.full()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.used > ws.owner.cfg.spare() {
		return nil
	}
	return err
}

// Room is the space that a command has.
type Room struct {
	// Limit is how many bytes the workspace may hold while the command runs,
	// with those that are there.
	Limit int64
	// Full is nil or says, in words for a model, that nothing can be staged
	// before something was removed. It is [ErrFull].
	Full error
}

// Room returns the space that the next command has. In a full workspace that is
// what is there and a little more, so that a command can make room: see
// [WithMaxBytes]. With next to nothing to remove it fails with [ErrFull], where
// the workspaces of all sessions are full together.
//
// It measures the workspace if it counts as full, and else at most once in five
// seconds, so that a call before each command costs little whatever lies there.
func (ws *Workspace) Room(ctx context.Context) (Room, error) {
	if err := ws.measure(ctx); err != nil {
		return Room{}, err
	}
	if err := ws.refused(); err != nil {
		return Room{}, err
	}
	full := ws.full()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	cfg := &ws.owner.cfg
	left := min(cfg.maxBytes-ws.used, cfg.left(ws.owner.total.Load()))
	return Room{Limit: ws.used + max(left, cfg.spare()), Full: full}, nil
}

// checkFileSize reports a file that is larger than a file may be.
func (ws *Workspace) checkFileSize(n int64) error {
	if limit := ws.owner.cfg.maxFileBytes; n > limit {
		return fmt.Errorf("%w: a file may have %d bytes", ErrTooLarge, limit)
	}
	return nil
}

// copyChunk is at most how much is written between looks at the context.
const copyChunk = 4 << 20

// fill copies src to its end into dst, within the limits, and returns how much
// that was. What was written is charged, first after so many bytes. Between two
// files the system shares or copies the blocks itself where it can.
func (ws *Workspace) fill(ctx context.Context, dst *os.File, src io.Reader, first int64, charge func(context.Context, int64) error) (int64, error) {
	var total int64
	for chunk := first; ; chunk = copyChunk {
		if err := ctx.Err(); err != nil {
			return total, err
		}
		n, err := dst.ReadFrom(&io.LimitedReader{R: src, N: chunk})
		total += n
		if err != nil {
			return total, err
		}
		if err := ws.checkFileSize(total); err != nil {
			return total, err
		}
		if err := charge(ctx, n); err != nil {
			return total, err
		}
		if n < chunk {
			return total, nil
		}
	}
}
