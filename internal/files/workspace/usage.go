package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Bounds of a measurement. If a command has piled up more than that, the rest is
// not looked at and the workspace counts as full.
const (
	maxUsageEntries = 200_000
	maxUsageDepth   = 100
)

// Usage is what a workspace holds.
type Usage struct {
	Bytes   int64 // disk space, without directories
	Entries int64 // files, directories, links and others
	// Cut reports that the numbers are too low: there are more than 200,000
	// entries, something is deeper than 100 directories, or a directory cannot be
	// read.
	Cut bool
}

// Usage measures the workspace. From then on the result counts against
// [WithMaxBytes], so a call after each command makes what it wrote count too.
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
	asked := time.Now()
	ws.measuring.Lock()
	defer ws.measuring.Unlock()
	full := ws.full() != nil
	ws.mu.Lock()
	due := time.Since(ws.measured) > measureEvery || full && ws.measured.Before(asked)
	ws.mu.Unlock()
	if !due {
		return nil
	}
	return ws.look(ctx)
}

// look measures the workspace.
func (ws *Local) look(ctx context.Context) error {
	_, err := ws.Usage(ctx)
	return err
}

const measureEvery = 5 * time.Second

func (ws *Local) measuredBefore(t time.Time) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.measured.Before(t)
}

// measureReleased measures a workspace that may be removed or used at the same
// time.
func (ws *Local) measureReleased(ctx context.Context) {
	ws.measuring.Lock()
	defer ws.measuring.Unlock()
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
// workspace are errors: entries come and go, and a command may make them
// unreadable.
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
