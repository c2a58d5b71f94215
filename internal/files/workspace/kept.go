package workspace

import (
	"context"
	"strings"
	"time"
)

// keptDir is a workspace of an earlier process.
type keptDir struct {
	dir      string // below the instance
	since    time.Time
	measured bool
	used     int64 // as in Workspace
}

// takeOver moves what must be kept of an instance without an owner, and removes
// the rest.
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
		if _, twice := w.kept[s.Session]; twice {
			continue
		}
		if err := w.inst.parent.Rename(orphan.name+"/"+name, w.inst.name+"/"+name); err != nil {
			w.cfg.logger.Warn("workspaces: workspace not taken over", "session", s.Session, "error", err)
			continue
		}
		w.kept[s.Session] = keptDir{dir: name, since: time.Now()}
	}
}

// removeKept removes a workspace that is not in use and no longer among those kept.
func (w *Workspaces) removeKept(kept keptDir) error {
	w.total.Add(-kept.used)
	return w.removeDir(kept.dir)
}

// measureKept measures a workspace of an earlier process.
func (w *Workspaces) measureKept(ctx context.Context, session, dir string) {
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
	if k, ok := w.kept[session]; ok && k.dir == dir { // not opened meanwhile
		k.measured, k.used = true, m.Bytes
		w.kept[session] = k
		w.total.Add(m.Bytes)
	}
}
