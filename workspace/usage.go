package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Bounds of a measurement. What a command has piled up beyond them is not
// looked at, and the workspace counts as full.
const (
	maxUsageEntries = 200_000
	maxUsageDepth   = 100
)

// Usage is what a workspace holds.
type Usage struct {
	Bytes   int64 // space on disk, directories not counted
	Entries int64 // files, directories, links and the rest
	// Cut reports that the numbers are too low: there is more than 200,000
	// entries, something deeper than 100 directories, or a directory that
	// cannot be read.
	Cut bool
}

// Usage measures the workspace. The result is from then on what counts against
// [WithMaxBytes], so a call after each command makes what it wrote count too.
func (ws *Workspace) Usage(ctx context.Context) (Usage, error) {
	m := measurement{ctx: ctx}
	if err := m.walk(ws.root, 0); err != nil {
		return Usage{}, fmt.Errorf("measure workspace: %w", cause(err))
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.used = m.Bytes
	if m.Cut {
		ws.used = max(ws.used, ws.owner.cfg.maxBytes+1)
	}
	return m.Usage, nil
}

// CheckFull fails with [ErrFull] if the workspace holds more than
// [WithMaxBytes]. It measures at most once in five seconds, so that a call
// before each command costs little whatever lies there.
func (ws *Workspace) CheckFull(ctx context.Context) error {
	ws.mu.Lock()
	due := time.Since(ws.measured) > measureEvery
	if due {
		ws.measured = time.Now()
	}
	ws.mu.Unlock()
	if due {
		if _, err := ws.Usage(ctx); err != nil {
			return err
		}
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.used > ws.owner.cfg.maxBytes {
		return fmt.Errorf("%w: it holds %d bytes, and %d are allowed; remove files", ErrFull, ws.used, ws.owner.cfg.maxBytes)
	}
	return nil
}

const measureEvery = 5 * time.Second

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
		entries, err := f.ReadDir(256)
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

// entry measures one entry. Only an ended context and the closing of the
// workspace are errors: entries come and go, and a command may close them.
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
