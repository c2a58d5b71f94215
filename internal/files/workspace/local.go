package workspace

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Local is the directory of one session. Its methods are safe for
// concurrent use until the use that [Workspaces.Of] gave is released.
type Local struct {
	owner   *Workspaces
	session string
	dir     string // below the instance
	path    string
	root    *os.Root
	control *os.Root
	memory  *memory
	kept    bool // by an earlier process

	// Under owner.mu.
	uses     int
	released time.Time
	ended    bool

	mu       sync.Mutex
	skills   map[string]*slot // by directory below skills/
	retired  []string         // replaced skills that a command may still use
	used     int64            // in bytes, see quota.go
	gone     bool             // removed: its bytes no longer count
	measured time.Time        // when the measurement that used comes from began

	attaching chan struct{} // holds one place
	repairing sync.Mutex
	measuring sync.Mutex
	tidied    sync.Once
	sums      sums
}

// open makes or opens the directories of the workspace.
func (ws *Local) open(inst *os.Root) error {
	if err := inst.Mkdir(ws.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return cause(err)
	}
	var err error
	if ws.root, err = openDir(inst, ws.dir+"/"+treeName, true); err != nil {
		return err
	}
	if ws.control, err = openDir(inst, ws.dir+"/"+controlName, true); err != nil {
		return err
	}
	if ws.memory, err = loadMemory(ws.control, ws.session); err != nil {
		return err
	}
	return ws.repair()
}

// close closes what open opened.
func (ws *Local) close() {
	for _, root := range []*os.Root{ws.root, ws.control} {
		if root != nil {
			root.Close()
		}
	}
}

// Path returns the absolute path of the workspace on the host, free of links.
// It never changes.
func (ws *Local) Path() string { return ws.path }

// Release gives back the use that one call of [Workspaces.Of] gave. Call it
// exactly once, after the commands of that use have ended. The idle time begins
// with the last release. If the session has ended meanwhile, the last release
// removes the workspace.
func (ws *Local) Release() {
	w := ws.owner
	w.mu.Lock()
	if ws.uses > 0 {
		ws.uses--
	}
	last := ws.uses == 0
	remove := last && ws.ended && !w.closed
	ws.released = time.Now()
	var retired []string
	if last && !w.closed {
		retired = ws.takeRetired()
	}
	w.mu.Unlock()
	var err error
	if remove {
		err = ws.remove()
	} else {
		err = ws.removeRetired(retired)
	}
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		w.cfg.logger.Warn("workspaces: not removed", "session", ws.session, "error", err)
	}
}

// remove removes an ended workspace that is no longer in use.
func (ws *Local) remove() error {
	ws.forget()
	return ws.owner.removeDir(ws.dir)
}

// forget closes a workspace for good.
func (ws *Local) forget() {
	ws.uncount()
	ws.measuring.Lock() // not while it is being measured
	defer ws.measuring.Unlock()
	ws.close()
}
