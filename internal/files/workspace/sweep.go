package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
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

// removeAll removes an entry of dir with everything in it. One that does not exist is no
// error. Commands choose what is in there, so removeAll follows no links and makes
// unreadable directories readable. It moves directories up instead of descending, so a
// tree of any depth takes one open directory and no long paths. It removes everything
// that it can before it reports what cannot be removed.
func removeAll(dir *os.Root, name string) error {
	stack, stuck := []string{name}, error(nil)
	for len(stack) > 0 {
		last := stack[len(stack)-1]
		moved, more, err := removeSome(dir, last)
		if err != nil {
			stuck = err // the latest one stands for all
		}
		if !more {
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, moved...)
	}
	return stuck
}

// removeSome removes an entry if it is not a directory or is empty; otherwise it
// removes some of its contents, and moves directories in it into dir under new
// names. More reports that it did so, and that the entry is still to be removed.
func removeSome(dir *os.Root, name string) (moved []string, more bool, err error) {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, dir.Remove(name)
	}
	if err := makeOpen(dir, name, info); err != nil {
		return nil, false, err
	}
	sub, err := openDir(dir, name, false)
	if err != nil {
		return nil, false, err
	}
	defer sub.Close()
	entries, err := readSome(sub, removeBatch)
	if err != nil {
		return nil, false, err
	}
	if len(entries) == 0 {
		return nil, false, dir.Remove(name)
	}
	for _, e := range entries {
		up, failed := removeEntry(dir, sub, name, e.Name())
		if failed != nil {
			err = failed
			continue
		}
		if more = true; up != "" {
			moved = append(moved, up)
		}
	}
	return moved, more, err
}

// removeEntry removes an entry of sub. If it is a directory it moves it into dir
// under the name that it returns.
func removeEntry(dir, sub *os.Root, subName, name string) (string, error) {
	info, err := sub.Lstat(name)
	if err != nil || !info.IsDir() {
		if err == nil {
			err = sub.Remove(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return "", err
	}
	// A directory must be writable to change its parent.
	if err := makeOpen(sub, name, info); err != nil {
		return "", err
	}
	up := freshName(trashPrefix)
	return up, dir.Rename(subName+"/"+name, up)
}

// makeOpen allows the owner to read and write a directory.
func makeOpen(dir *os.Root, name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o700 == 0o700 {
		return nil
	}
	return dir.Chmod(name, 0o700)
}

// readSome returns up to n entries of a directory.
func readSome(dir *os.Root, n int) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// Prefixes of names that exist for a moment only.
const (
	newPrefix   = plainfile.NewPrefix
	trashPrefix = plainfile.OldPrefix
)

// freshName returns a name that nothing has yet.
func freshName(prefix string) string {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return fmt.Sprintf("%s%x", prefix, random)
}
