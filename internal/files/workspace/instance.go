package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// An instance is the directory of one Workspaces. It contains a lock file, which is locked
// while its process lives, and a directory for each workspace. The instances of other
// processes are beside it.
type instance struct {
	parent *os.Root
	name   string
	root   *os.Root
	path   string // absolute; set only for the instance of this process
	lock   *os.File
}

const (
	instancePrefix = "satchel-ws-"
	lockName       = "lock"
)

// errTaken says that another process holds the lock of an instance.
var errTaken = errors.New("instance is in use")

// newInstance makes an instance below base, or below the directory for temporary
// files if base is empty.
func newInstance(base string) (*instance, error) {
	if base == "" {
		base = os.TempDir()
	} else if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	// Links are resolved, so that the path can be mounted and compared.
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	parent, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	for range maxInstanceTries {
		in := &instance{parent: parent, name: freshName(instancePrefix)}
		in.path = filepath.Join(base, in.name)
		if err = in.make(); err == nil {
			return in, nil
		}
	}
	return nil, errors.Join(err, parent.Close())
}

// make creates the directory and takes its lock. It fails if another process removes the
// directory before the lock is taken.
func (in *instance) make() error {
	if err := in.parent.Mkdir(in.name, 0o700); err != nil {
		return err
	}
	return in.open(os.O_RDWR | os.O_CREATE | os.O_EXCL)
}

// open opens the instance and takes its lock.
func (in *instance) open(flags int) (err error) {
	if in.root, err = openDir(in.parent, in.name, false); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			in.root.Close()
		}
	}()
	if info, err := in.root.Lstat(lockName); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("lock is %s", plainfile.Kind(info.Mode()))
	}
	f, err := in.root.OpenFile(lockName, flags|plainfile.NonBlock, 0o600)
	if err != nil {
		return err
	}
	if err := checkLock(in.root, f); err != nil {
		return errors.Join(err, f.Close())
	}
	in.lock = f
	return nil
}

// checkLock takes the lock and checks that the lock file is still in place:
// another process may have removed it between the opening and the locking.
func checkLock(root *os.Root, f *os.File) error {
	if err := lockFile(f); err != nil {
		return errTaken
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	inPlace, err := root.Lstat(lockName)
	if err != nil || !os.SameFile(opened, inPlace) {
		return errTaken
	}
	return nil
}

// remove removes the instance, its lock last.
func (in *instance) remove() error {
	err := in.empty()
	if err == nil {
		err = in.root.Remove(lockName)
	}
	closed := in.close()
	if err == nil {
		err = in.parent.Remove(in.name)
	}
	return errors.Join(err, closed)
}

// empty removes everything but the lock.
func (in *instance) empty() error {
	names, err := listNames(in.root)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if name != lockName {
			errs = append(errs, removeAll(in.root, name))
		}
	}
	return errors.Join(errs...)
}

// close releases the instance and leaves it in place.
func (in *instance) close() error {
	return errors.Join(unlockFile(in.lock), in.lock.Close(), in.root.Close())
}

// forEachOrphan calls use for each instance beside this one whose process has ended. The
// instance is locked by this process during the call. use must remove or close it.
func (in *instance) forEachOrphan(ctx context.Context, use func(*instance)) error {
	if !locks {
		return nil
	}
	names, err := listNames(in.parent)
	if err != nil {
		return err
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !strings.HasPrefix(name, instancePrefix) || name == in.name {
			continue
		}
		info, err := in.parent.Lstat(name)
		if err != nil || !isOurs(info) {
			continue
		}
		other := &instance{parent: in.parent, name: name}
		err = other.open(os.O_RDWR)
		switch {
		case err == nil:
			use(other)
		case errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) > unlockedAge:
			in.parent.Remove(name) // succeeds only if it is empty
		}
	}
	return nil
}

func listNames(dir *os.Root) ([]string, error) {
	entries, err := readSome(dir, maxSiblings)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// Local is the workspace of one session in a directory of this machine. Its methods are safe
// for concurrent use until the caller of [Workspaces.Of] calls Release.
type Local struct {
	owner       *Workspaces
	session     string
	dir         string // below the instance
	path        string
	root        *os.Root
	control     *os.Root
	state       *stateFile
	isInherited bool // an earlier process made it

	// Under owner.mu.
	uses     int
	released time.Time
	ended    bool

	mu        sync.Mutex
	skills    map[string]*slot // by directory below skills/
	retired   []string         // replaced skills that a command may still use
	used      int64            // in bytes, see usage.go
	isRemoved bool             // its bytes no longer count
	measured  time.Time        // when the last measurement began

	attachTurn chan struct{} // of capacity 1; full while a call of Attach runs
	repairMu   sync.Mutex
	measureMu  sync.Mutex
	tidyOnce   sync.Once
	sums       sumCache
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
	if ws.state, err = openState(ws.control, ws.session); err != nil {
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

// Release ends the use that one call of [Workspaces.Of] began. Call it exactly once, after
// the commands of that use have ended. The idle time begins with the last release. If the
// session has ended meanwhile, the last release removes the workspace.
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
	err := ws.owner.callBeforeRemove(ws.path)
	ws.forget()
	return errors.Join(err, ws.owner.removeDir(ws.dir))
}

// forget closes a workspace for good.
func (ws *Local) forget() {
	ws.dropUsed()
	ws.measureMu.Lock() // not while it is being measured
	defer ws.measureMu.Unlock()
	ws.close()
}
