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

// Removal is a workspace that was removed because it had been unused for the idle
// time.
type Removal struct {
	Session string
	Took    time.Duration
	Err     error // names a file that could not be removed
}

// OnSweep makes [Workspaces.Sweep] call notify after each removal, until stop is
// called. Notify must not block, because the next removal waits for it.
func (w *Workspaces) OnSweep(notify func(Removal)) (stop func()) { return w.swept.add(notify) }

// BeforeRemove makes w call release with the path of each workspace that it closes or is about to
// remove, until stop is called. Executors end then what they keep for the workspace. If release
// fails, the workspace is removed all the same.
func (w *Workspaces) BeforeRemove(release func(path string) error) (stop func()) {
	return w.beforeRemove.add(release)
}

// ReleaseBy makes by release each workspace of places that is about to be removed, until stop is
// called, if by is an executor.Releaser.
func ReleaseBy(places, by any) (stop func()) {
	removing, ok := places.(interface {
		BeforeRemove(func(path string) error) (stop func())
	})
	releaser, keeps := by.(interface{ Release(path string) error })
	if !ok || !keeps {
		return func() {}
	}
	return removing.BeforeRemove(releaser.Release)
}

// callBeforeRemove calls the functions of BeforeRemove.
func (w *Workspaces) callBeforeRemove(path string) error {
	var errs []error
	for _, release := range w.beforeRemove.all() {
		errs = append(errs, release(path))
	}
	return errors.Join(errs...)
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
		for _, notify := range w.swept.all() {
			notify(Removal{Session: session, Took: time.Since(began), Err: err})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return len(idle), fmt.Errorf("sweep workspaces: %w", err)
	}
	return len(idle), nil
}

// takeIdle takes the workspaces that were last used before a time out of w. It returns for
// each session the function that removes its workspace.
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
	for session, earlier := range w.inherited {
		if !earlier.idleSince.After(before) {
			idle[session] = func() error { return w.removeInherited(earlier) }
			delete(w.inherited, session)
		}
	}
	return idle
}

// maintain removes idle workspaces and measures those that were used, until
// ctx ends.
func (w *Workspaces) maintain(ctx context.Context) {
	defer close(w.stopped)
	var sweep, measure <-chan time.Time
	if w.cfg.idle > 0 {
		ticker := time.NewTicker(max(w.cfg.idle/sweepsPerIdle, time.Millisecond))
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
// those of earlier processes. Then the files that their commands wrote count towards the total.
func (w *Workspaces) measureReleased(ctx context.Context) {
	w.mu.Lock()
	var released []*Local
	for _, ws := range w.bySession {
		if ws.uses == 0 && ws.measuredBefore(ws.released) {
			released = append(released, ws)
		}
	}
	unmeasured := map[string]string{} // directories by session
	for session, k := range w.inherited {
		if !k.measured {
			unmeasured[session] = k.dir
		}
	}
	w.mu.Unlock()
	for _, ws := range released {
		ws.measureReleased(ctx)
	}
	for session, dir := range unmeasured {
		w.measureInherited(ctx, session, dir)
	}
}

// removeAll removes an entry of dir with everything in it. An entry that does not exist is no
// error. Commands may have made the tree, so removeAll follows no links and makes unreadable
// directories readable. It moves directories up into dir instead of descending, so a tree of
// any depth needs one open directory and no long paths. It removes as much as it can and then
// returns the last error.
func removeAll(dir *os.Root, name string) error {
	stack := []string{name}
	var lastErr error
	for len(stack) > 0 {
		last := stack[len(stack)-1]
		moved, more, err := removeSome(dir, last)
		if err != nil {
			lastErr = err
		}
		if !more {
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, moved...)
	}
	return lastErr
}

// removeSome removes an entry that is not a directory or is empty. Of another directory it
// removes some of the contents and moves its subdirectories into dir; moved are their new
// names. more reports that the entry itself is still to be removed.
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
	if err := makeAccessible(dir, name, info); err != nil {
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

// removeEntry removes an entry of sub. It moves a directory into dir instead, and returns its
// new name there.
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
	if err := makeAccessible(sub, name, info); err != nil {
		return "", err
	}
	up := freshName(trashPrefix)
	return up, dir.Rename(subName+"/"+name, up)
}

// makeAccessible lets the owner read, write and search a directory.
func makeAccessible(dir *os.Root, name string, info fs.FileInfo) error {
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

// Prefixes of temporary names.
const (
	newPrefix   = plainfile.NewPrefix
	trashPrefix = plainfile.OldPrefix
)

// freshName returns a name that no file has yet.
func freshName(prefix string) string {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return fmt.Sprintf("%s%x", prefix, random)
}
