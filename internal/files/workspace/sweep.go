package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Swept is a workspace that was removed because it had been unused for the idle
// time.
type Swept struct {
	Session string
	Took    time.Duration
	Err     error // says what could not be removed
}

// OnSweep makes [Workspaces.Sweep] call notify after each removal, until stop is
// called. Notify must not block, because the next removal waits for it.
func (w *Workspaces) OnSweep(notify func(Swept)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notified++
	key := w.notified
	w.notify[key] = notify
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.notify, key)
	}
}

// Sweep removes the workspaces that have been unused for the idle time, and
// returns their number. It also runs by itself, about four times in each idle
// time; call it to free disk space at once.
func (w *Workspaces) Sweep() (int, error) {
	if w.cfg.idle == 0 {
		return 0, nil
	}
	idle := w.takeIdle(time.Now().Add(-w.cfg.idle))
	var errs []error
	for session, remove := range idle {
		began := time.Now()
		err := remove()
		errs = append(errs, err)
		w.tell(Swept{Session: session, Took: time.Since(began), Err: err})
	}
	if err := errors.Join(errs...); err != nil {
		return len(idle), fmt.Errorf("sweep workspaces: %w", err)
	}
	return len(idle), nil
}

func (w *Workspaces) tell(s Swept) {
	w.mu.Lock()
	var all []func(Swept)
	for _, notify := range w.notify {
		all = append(all, notify)
	}
	w.mu.Unlock()
	for _, notify := range all {
		notify(s)
	}
}

// takeIdle takes out the workspaces that were last used before a time, and
// returns by session the functions that remove them.
func (w *Workspaces) takeIdle(before time.Time) map[string]func() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	idle := map[string]func() error{}
	if w.closed {
		return idle
	}
	for session, ws := range w.bySession {
		if ws.uses == 0 && !ws.released.After(before) {
			ws.ended = true
			idle[session] = ws.remove
			delete(w.bySession, session)
		}
	}
	for session, kept := range w.kept {
		if !kept.since.After(before) {
			idle[session] = func() error { return w.removeKept(kept) }
			delete(w.kept, session)
		}
	}
	return idle
}

// lookNowAndThen removes idle workspaces and measures those that were used, until
// ctx ends.
func (w *Workspaces) lookNowAndThen(ctx context.Context) {
	defer close(w.stopped)
	var sweep, measure <-chan time.Time
	if w.cfg.idle > 0 {
		ticker := time.NewTicker(max(w.cfg.idle/4, time.Millisecond))
		defer ticker.Stop()
		sweep = ticker.C
	}
	if w.cfg.maxTotal > 0 {
		ticker := time.NewTicker(measureEvery)
		defer ticker.Stop()
		measure = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep:
			if _, err := w.Sweep(); err != nil {
				w.cfg.logger.Warn("workspaces: idle workspaces not removed", "error", err)
			}
		case <-measure:
			w.measureReleased(ctx)
		}
	}
}

// measureReleased measures the workspaces that were released since their last measurement, and
// those that an earlier process has left. So the files that their commands wrote count towards
// the total.
func (w *Workspaces) measureReleased(ctx context.Context) {
	w.mu.Lock()
	var released []*Local
	for _, ws := range w.bySession {
		if ws.uses == 0 && ws.measuredBefore(ws.released) {
			released = append(released, ws)
		}
	}
	kept := map[string]string{}
	for session, k := range w.kept {
		if !k.measured {
			kept[session] = k.dir
		}
	}
	w.mu.Unlock()
	for _, ws := range released {
		ws.measureReleased(ctx)
	}
	for session, dir := range kept {
		w.measureKept(ctx, session, dir)
	}
}
