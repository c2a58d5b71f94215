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
	hosts []hostDir
	inst  *instance

	total atomic.Int64 // bytes in all workspaces, as far as they are known

	mu        sync.Mutex
	bySession map[string]*Workspace
	kept      map[string]keptDir // taken over, not yet asked for; by session
	notify    map[int]func(Swept)
	notified  int // the last key in notify
	closed    bool

	cancel  context.CancelFunc
	stopped chan struct{}
}

// Open makes a private directory (mode 0700) for workspaces below base, or
// below the directory for temporary files if base is empty. Any number of
// processes may use the same base. Open removes what processes that have died
// left there (see [WithKeep] for the alternative) and never touches what
// belongs to a living one; it tells them apart by a file lock that the kernel
// releases. Where there are no such locks, as on Windows, nothing of others is
// removed. Until [Workspaces.Close], idle workspaces are removed now and then.
func Open(base string, opts ...Option) (*Workspaces, error) {
	cfg, err := newConfig(base, opts)
	if err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	hosts, err := resolveHostDirs(cfg.hostDirs)
	if err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	inst, err := newInstance(base)
	if err != nil {
		return nil, fmt.Errorf("open workspaces in %q: %w", base, err)
	}
	w := &Workspaces{
		cfg: cfg, hosts: hosts, inst: inst,
		bySession: map[string]*Workspace{}, kept: map[string]keptDir{}, notify: map[int]func(Swept){},
		stopped: make(chan struct{}),
	}
	if err := inst.orphans(w.takeOver); err != nil {
		cfg.logger.Warn("workspaces: leftovers not listed", "error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.lookNowAndThen(ctx)
	return w, nil
}

// sessionPrefix is how the directory of a session begins: any string is a safe
// session that way.
func sessionPrefix(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16]) + "."
}

// Of returns the workspace of a session, which is not empty, and makes it on
// first use. Calls with the same session get the same workspace, each with a
// use of its own that [Workspace.Release] gives back; a workspace in use is
// not removed as idle. After Close the error is [ErrClosed].
func (w *Workspaces) Of(ctx context.Context, session string) (*Workspace, error) {
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
	// Not under the lock: it may take a while.
	ws.tidied.Do(ws.tidy)
	return ws, nil
}

// use finds or makes the workspace of a session and counts a use of it.
func (w *Workspaces) use(session string) (*Workspace, error) {
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

// isGone reports that a command has removed the workspace as a whole, or put
// something else in its place, which is then removed too, links unfollowed. The
// session goes on with a new one.
func (ws *Workspace) isGone() bool {
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
func (w *Workspaces) make(session string) (_ *Workspace, err error) {
	dir := freshName(sessionPrefix(session))
	kept, taken := w.kept[session]
	if taken {
		dir = kept.dir
	}
	ws := &Workspace{
		owner: w, session: session, dir: dir,
		path:   filepath.Join(w.inst.path, dir, treeName),
		skills: map[string]*slot{}, attaching: make(chan struct{}, 1),
		used: kept.used, kept: taken,
	}
	defer func() {
		if err != nil {
			ws.close()
		}
	}()
	if err := ws.open(w.inst.root); err != nil {
		return nil, err
	}
	delete(w.kept, session)
	return ws, nil
}

// End removes the workspace of a session: at once, or with the last release if
// it is in use. The session's next workspace is a new one in any case. To end a
// session without workspace is no error.
func (w *Workspaces) End(session string) error {
	w.mu.Lock()
	ws, ok := w.bySession[session]
	kept, isKept := w.kept[session]
	delete(w.bySession, session)
	delete(w.kept, session)
	inUse := ok && ws.uses > 0
	if ok {
		ws.ended = true
	}
	w.mu.Unlock()
	var err error
	switch {
	case ok && !inUse:
		err = ws.remove()
	case isKept:
		err = w.removeKept(kept)
	}
	if err != nil {
		return fmt.Errorf("end workspace of session %q: %w", session, err)
	}
	return nil
}

// removeDir removes a session's directory, gone in one step from its place.
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

// Close removes all workspaces, also those in use, so stop what runs in them
// first; with [WithKeep] it leaves them in place. Further calls do nothing.
func (w *Workspaces) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	all := w.bySession
	w.bySession = map[string]*Workspace{}
	w.mu.Unlock()
	w.cancel()
	<-w.stopped
	for _, ws := range all {
		ws.close()
	}
	var err error
	if w.cfg.keep {
		err = w.inst.close()
	} else {
		err = w.inst.remove()
	}
	if err = errors.Join(err, w.inst.parent.Close()); err != nil {
		return fmt.Errorf("close workspaces: %w", err)
	}
	return nil
}
