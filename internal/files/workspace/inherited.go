package workspace

import (
	"context"
	"strings"
	"time"
)

// inheritedDir is a workspace of an earlier process that this one has not used yet.
type inheritedDir struct {
	dir       string // below the instance
	idleSince time.Time
	measured  bool
	used      int64 // in bytes, once measured
}

// takeOver removes an orphan. With WithKeep it first moves the orphan's workspaces into this
// instance.
func (w *Workspaces) takeOver(orphan *instance) {
	if w.cfg.keep {
		w.adopt(orphan)
	}
	if err := orphan.remove(); err != nil {
		w.cfg.logger.Warn("workspaces: leftover not removed", "name", orphan.name, "error", err)
	}
}

// adopt moves the workspaces of an orphan into this instance.
func (w *Workspaces) adopt(orphan *instance) {
	names, err := listNames(orphan.root)
	if err != nil {
		w.cfg.logger.Warn("workspaces: kept workspaces not listed", "name", orphan.name, "error", err)
	}
	for _, name := range names {
		control, err := openDir(orphan.root, name+"/"+controlName, false)
		if err != nil {
			continue
		}
		s, err := readState(control)
		control.Close()
		if err != nil || !strings.HasPrefix(name, sessionPrefix(s.Session)) {
			continue
		}
		if _, twice := w.inherited[s.Session]; twice {
			continue
		}
		if err := w.inst.parent.Rename(orphan.name+"/"+name, w.inst.name+"/"+name); err != nil {
			w.cfg.logger.Warn("workspaces: workspace not taken over", "session", s.Session, "error", err)
			continue
		}
		w.inherited[s.Session] = inheritedDir{dir: name, idleSince: time.Now()}
	}
}

// removeInherited removes a workspace of an earlier process. The caller has taken it out of w.inherited.
func (w *Workspaces) removeInherited(earlier inheritedDir) error {
	w.total.Add(-earlier.used)
	return w.removeDir(earlier.dir)
}

// measureInherited measures a workspace of an earlier process.
func (w *Workspaces) measureInherited(ctx context.Context, session, dir string) {
	tree, err := openDir(w.inst.root, dir+"/"+treeName, false)
	if err != nil {
		return // it was removed
	}
	defer tree.Close()
	m := measurement{ctx: ctx}
	if err := m.walk(tree, 0); err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if k, ok := w.inherited[session]; ok && k.dir == dir { // not opened meanwhile
		k.measured, k.used = true, m.Bytes
		w.inherited[session] = k
		w.total.Add(m.Bytes)
	}
}
