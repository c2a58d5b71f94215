package workspace

import (
	"errors"
	"fmt"
	"time"
)

// Sweep removes the workspaces that nobody has used for the idle time, and
// returns how many. It runs by itself too, about four times in each idle time;
// call it to free disk space at once.
func (w *Workspaces) Sweep() (int, error) {
	if w.cfg.idle == 0 {
		return 0, nil
	}
	idle, dirs := w.takeIdle(time.Now().Add(-w.cfg.idle))
	var errs []error
	for _, ws := range idle {
		errs = append(errs, ws.remove())
	}
	for _, dir := range dirs {
		errs = append(errs, w.removeDir(dir))
	}
	if err := errors.Join(errs...); err != nil {
		return len(idle) + len(dirs), fmt.Errorf("sweep workspaces: %w", err)
	}
	return len(idle) + len(dirs), nil
}

// takeIdle takes the workspaces out that were last used before a time.
func (w *Workspaces) takeIdle(before time.Time) (idle []*Workspace, dirs []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, nil
	}
	for session, ws := range w.bySession {
		if ws.uses == 0 && !ws.released.After(before) {
			ws.ended = true
			idle = append(idle, ws)
			delete(w.bySession, session)
		}
	}
	for session, kept := range w.kept {
		if !kept.since.After(before) {
			dirs = append(dirs, kept.dir)
			delete(w.kept, session)
		}
	}
	return idle, dirs
}

// sweepNowAndThen runs until Close.
func (w *Workspaces) sweepNowAndThen() {
	defer close(w.stopped)
	if w.cfg.idle == 0 {
		return
	}
	ticker := time.NewTicker(max(w.cfg.idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			if _, err := w.Sweep(); err != nil {
				w.cfg.logger.Warn("workspaces: idle workspaces not removed", "error", err)
			}
		}
	}
}
