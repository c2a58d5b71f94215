package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Workspaces holds the workspaces of all sessions of a process. Its methods
// are safe for concurrent use.
type Workspaces struct {
	cfg   config
	hosts []hostDir // from which inputs may come
	inst  *instance

	total atomic.Int64 // the known bytes in all workspaces

	swept        callbacks[func(Removal)]           // of OnSweep
	beforeRemove callbacks[func(path string) error] // of BeforeRemove

	mu        sync.Mutex
	bySession map[string]*Local
	inherited map[string]inheritedDir // of earlier processes and not used yet, by session
	closed    bool

	cancel  context.CancelFunc
	stopped chan struct{}
}

// Open makes a private directory (mode 0700) for workspaces below base, or below
// the directory for temporary files if base is empty. Any number of processes may
// use the same base. Open removes the workspaces of processes that have died (see [WithKeep] for
// the alternative), and touches none of a living one. A file lock, which the kernel
// releases, tells them apart. Without such locks, as on Windows, Open removes nothing of
// others. Until [Workspaces.Close], idle workspaces are removed from time to time.
func Open(ctx context.Context, base string, opts ...Option) (*Workspaces, error) {
	cfg, err := newConfig(base, opts)
	if err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	hosts, err := resolveHostDirs(cfg.hostDirs)
	if err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	inst, err := newInstance(base)
	if err != nil {
		return nil, fmt.Errorf("open workspaces in %q: %w", base, err)
	}
	w := &Workspaces{
		cfg: cfg, hosts: hosts, inst: inst,
		bySession: map[string]*Local{}, inherited: map[string]inheritedDir{},
		stopped: make(chan struct{}),
	}
	if err := inst.forEachOrphan(ctx, w.takeOver); err != nil && ctx.Err() == nil {
		cfg.logger.Warn("workspaces: leftovers not listed", "error", err)
	}
	background, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.maintain(background)
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("open workspaces in %q: %w", base, err), w.Close())
	}
	return w, nil
}

// sessionPrefix returns the beginning of the name of a session's directory. It is a hash, so
// any string may name a session.
func sessionPrefix(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16]) + "."
}

// Of returns the workspace of a session, which must not be empty, and makes it on
// first use. Calls with the same session get the same workspace. Each call gets a
// use of its own, which [Local.Release] gives back; a workspace in use is not
// removed as idle. After Close the error is [ErrClosed].
func (w *Workspaces) Of(ctx context.Context, session string) (Workspace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if session == "" {
		return nil, fmt.Errorf("make workspace: %w: the session is empty", ErrName)
	}
	ws, err := w.use(session)
	if err != nil {
		return nil, fmt.Errorf("make workspace of session %q: %w", session, err)
	}
	// tidy may take a while, so it runs without the lock.
	ws.tidyOnce.Do(ws.tidy)
	return ws, nil
}

// use finds or makes the workspace of a session and counts a use of it.
func (w *Workspaces) use(session string) (*Local, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	ws, ok := w.bySession[session]
	if ok && ws.uses == 0 && ws.isGone() {
		ws.forget()
		delete(w.bySession, session)
		ok = false
	}
	if !ok {
		var err error
		if ws, err = w.make(session); err != nil {
			return nil, err
		}
		w.bySession[session] = ws
	}
	ws.uses++
	return ws, nil
}

// isGone reports whether a command has removed or replaced the whole workspace. If a file or
// link has replaced it, isGone removes that. The session then continues with a new workspace.
func (ws *Local) isGone() bool {
	inst, tree := ws.owner.inst.root, ws.dir+"/"+treeName
	now, err := inst.Lstat(tree)
	if err == nil {
		was, statErr := ws.root.Stat(".")
		if statErr == nil && os.SameFile(was, now) {
			return false
		}
		if !now.IsDir() {
			err = inst.Remove(tree)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ws.owner.cfg.logger.Warn("workspaces: replaced workspace not removed", "session", ws.session, "error", err)
	}
	return true
}

// make opens the directory of a session. The caller holds the lock.
func (w *Workspaces) make(session string) (_ *Local, err error) {
	dir := freshName(sessionPrefix(session))
	earlier, isInherited := w.inherited[session]
	if isInherited {
		dir = earlier.dir
	}
	ws := &Local{
		owner: w, session: session, dir: dir,
		path:   filepath.Join(w.inst.path, dir, treeName),
		skills: map[string]*slot{}, attachTurn: make(chan struct{}, 1),
		used: earlier.used, isInherited: isInherited,
	}
	defer func() {
		if err != nil {
			ws.close()
		}
	}()
	if err := ws.open(w.inst.root); err != nil {
		return nil, err
	}
	delete(w.inherited, session)
	return ws, nil
}

// End removes the workspace of a session: at once, or with the last release if it
// is in use. The session's next workspace is a new one in any case. Ending a
// session without workspace is no error.
func (w *Workspaces) End(session string) error {
	w.mu.Lock()
	ws, ok := w.bySession[session]
	earlier, isInherited := w.inherited[session]
	delete(w.bySession, session)
	delete(w.inherited, session)
	inUse := ok && ws.uses > 0
	if ok {
		ws.ended = true
	}
	w.mu.Unlock()
	var err error
	switch {
	case ok && !inUse:
		err = ws.remove()
	case isInherited:
		err = w.removeInherited(earlier)
	}
	if err != nil {
		return fmt.Errorf("end workspace of session %q: %w", session, err)
	}
	return nil
}

// removeDir removes a session's directory from its place in one step.
func (w *Workspaces) removeDir(dir string) error {
	trash := freshName(trashPrefix)
	if err := w.inst.root.Rename(dir, trash); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return cause(err)
	}
	if err := removeAll(w.inst.root, trash); err != nil {
		return fmt.Errorf("remove files: %w", cause(err))
	}
	return nil
}

// Close removes all workspaces, also those in use, so first stop what runs in
// them; with [WithKeep] it leaves them in place. Further calls do nothing.
func (w *Workspaces) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	all := w.bySession
	w.bySession = map[string]*Local{}
	w.mu.Unlock()
	w.cancel()
	<-w.stopped
	var err error
	for _, ws := range all {
		err = errors.Join(err, w.callBeforeRemove(ws.path))
		ws.close()
	}
	if w.cfg.keep {
		err = errors.Join(err, w.inst.close())
	} else {
		err = errors.Join(err, w.inst.remove())
	}
	if err = errors.Join(err, w.inst.parent.Close()); err != nil {
		return fmt.Errorf("close workspaces: %w", err)
	}
	return nil
}
