package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Usage is the measured size of a workspace.
type Usage struct {
	Bytes   int64 // disk space, without directories
	Entries int64 // files, directories, links and others
	// Cut reports that the numbers are too low: there are more than 200,000
	// entries, something is deeper than 100 directories, or a directory cannot be
	// read.
	Cut bool
}

// Usage measures the workspace. From then on the result counts against [WithMaxBytes]. So a
// caller that calls it after each command makes the command's files count.
func (ws *Local) Usage(ctx context.Context) (Usage, error) {
	began := time.Now()
	m := measurement{ctx: ctx}
	if err := m.walk(ws.root, 0); err != nil {
		return Usage{}, fmt.Errorf("measure workspace: %w", cause(err))
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	used := m.Bytes
	if m.Cut {
		used = max(used, ws.owner.cfg.maxBytes+1)
	}
	ws.setUsed(used)
	ws.measured = began
	return m.Usage, nil
}

// measure measures the workspace if that was not done recently. It also does so if the
// workspace counts as full and no other goroutine has measured it meanwhile.
func (ws *Local) measure(ctx context.Context) error {
	called := time.Now()
	ws.measureMu.Lock()
	defer ws.measureMu.Unlock()
	full := ws.fullError() != nil
	ws.mu.Lock()
	due := time.Since(ws.measured) > measureEvery || full && ws.measured.Before(called)
	ws.mu.Unlock()
	if !due {
		return nil
	}
	return ws.measureNow(ctx)
}

// measureNow measures the workspace.
func (ws *Local) measureNow(ctx context.Context) error {
	_, err := ws.Usage(ctx)
	return err
}

func (ws *Local) measuredBefore(t time.Time) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.measured.Before(t)
}

// measureReleased measures a workspace that may be removed or used at the same
// time.
func (ws *Local) measureReleased(ctx context.Context) {
	ws.measureMu.Lock()
	defer ws.measureMu.Unlock()
	_, _ = ws.Usage(ctx) // fails if it was removed
}

type measurement struct {
	Usage
	ctx context.Context
}

func (m *measurement) walk(dir *os.Root, depth int) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		entries, err := f.ReadDir(measureBatch)
		for _, e := range entries {
			if m.Entries++; m.Entries > maxUsageEntries {
				m.Cut = true
				return nil
			}
			if err := m.entry(dir, e, depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// entry measures one entry. Only the end of the context is an error: a command may remove an
// entry at any time, or make it unreadable.
func (m *measurement) entry(dir *os.Root, e os.DirEntry, depth int) error {
	if !e.IsDir() {
		if info, err := dir.Lstat(e.Name()); err == nil {
			m.Bytes += diskBytes(info)
		}
		return nil
	}
	if depth == maxUsageDepth {
		m.Cut = true
		return nil
	}
	sub, err := openStep(dir, e.Name(), false)
	if err == nil {
		err = m.walk(sub, depth+1)
		sub.Close()
	}
	switch {
	case m.ctx.Err() != nil:
		return m.ctx.Err()
	case err != nil && !errors.Is(err, ErrNotExist):
		m.Cut = true
	}
	return nil
}

// The count of a workspace's bytes grows with each staged file and never shrinks by itself: only
// a measurement shows which files a command has removed. So when the count exceeds the maximum,
// the workspace is measured and the count starts from the result. The total of all workspaces
// changes with each count.

// charge counts n bytes that have just been written.
func (ws *Local) charge(ctx context.Context, n int64) error {
	ws.addUsed(n)
	if ws.fullError() == nil {
		return nil
	}
	if _, err := ws.Usage(ctx); err != nil {
		return err
	}
	return ws.fullError()
}

// addUsed adds n bytes.
func (ws *Local) addUsed(n int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.setUsed(ws.used + n)
}

// setUsed sets how much the workspace holds. The caller holds the lock.
func (ws *Local) setUsed(n int64) {
	if ws.isRemoved {
		return
	}
	ws.owner.total.Add(n - ws.used)
	ws.used = n
}

// dropUsed takes a workspace that is being removed out of the total.
func (ws *Local) dropUsed() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.setUsed(0)
	ws.isRemoved = true
}

// fullError returns nil if files can be staged, else an ErrFull error.
func (ws *Local) fullError() error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	cfg := &ws.owner.cfg
	switch {
	case ws.used > cfg.maxBytes:
		return fmt.Errorf("%w: it holds %d bytes, and %d are allowed; remove files", ErrFull, ws.used, cfg.maxBytes)
	case cfg.remaining(ws.owner.total.Load()) < 0:
		return fmt.Errorf("%w: those of all sessions together have reached the %d bytes that are allowed; remove files, or try again when others have ended", ErrFull, cfg.maxTotal)
	}
	return nil
}

// refusal returns fullError if the workspace holds little, and nil if a command can make room
// by removing files from it.
func (ws *Local) refusal() error {
	err := ws.fullError()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.used > ws.owner.cfg.spare() {
		return nil
	}
	return err
}

// Room is the disk space for a command.
type Room struct {
	// Limit is how many bytes the workspace may hold while the command runs,
	// including those that are there already.
	Limit int64
	// Full is an [ErrFull] error if files must be removed before others can be staged, else
	// nil. Its text may be shown to a model.
	Full error
}

// Room returns the disk space for the next command. In a full workspace that is its current
// size and a little more, so that a command can remove files: see [WithMaxBytes]. It fails
// with [ErrFull] if the workspaces of all sessions together are full and this one is nearly
// empty.
//
// It measures the workspace if that counts as full, and otherwise at most once in five
// seconds. So a call before each command costs little, even for a large workspace. With fresh
// it always measures.
func (ws *Local) Room(ctx context.Context, fresh bool) (Room, error) {
	measure := ws.measure
	if fresh {
		measure = ws.measureNow
	}
	if err := measure(ctx); err != nil {
		return Room{}, err
	}
	if err := ws.refusal(); err != nil {
		return Room{}, err
	}
	full := ws.fullError()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	cfg := &ws.owner.cfg
	left := min(cfg.maxBytes-ws.used, cfg.remaining(ws.owner.total.Load()))
	return Room{Limit: ws.used + max(left, cfg.spare()), Full: full}, nil
}

// checkFileSize reports a file that is larger than a file may be.
func (ws *Local) checkFileSize(n int64) error {
	if limit := ws.owner.cfg.maxFileBytes; n > limit {
		return fmt.Errorf("%w: a file may have %d bytes", ErrTooLarge, limit)
	}
	return nil
}

// fill copies src to its end into dst, within the limits, and returns how many
// bytes that was. What was written is charged, for the first time after first
// bytes. Between two files the system shares or copies the blocks itself if it
// can.
func (ws *Local) fill(ctx context.Context, dst *os.File, src io.Reader, first int64, charge func(context.Context, int64) error) (int64, error) {
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
