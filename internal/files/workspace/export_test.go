package workspace

import (
	"context"
	"os"
	"time"
)

// For tests outside of the package.
var (
	SkillDirName  = skillDirName
	SafeName      = safeName
	ResolveTarget = resolveTarget
	ResolveCwd    = resolveCwd
)

// ParseSource returns the scheme, skill and path of a source.
func ParseSource(from string) (scheme, skill, path, base string, err error) {
	src, err := parseSource(from)
	return src.scheme, src.skill, src.path, src.base(), err
}

// MeasureReleased does what otherwise happens every few seconds.
func MeasureReleased(ctx context.Context, w *Workspaces) { w.measureReleased(ctx) }

// Total returns the known size of all workspaces.
func Total(w *Workspaces) int64 { return w.total.Load() }

// Age makes all workspaces look idle for that much longer.
func Age(w *Workspaces, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ws := range w.bySession {
		ws.released = ws.released.Add(-d)
	}
	for session, kept := range w.inherited {
		kept.idleSince = kept.idleSince.Add(-d)
		w.inherited[session] = kept
	}
}

// Tidy looks at no more than so many entries of a directory, and returns how many
// it could still look at.
func Tidy(dir *os.Root, entries int) int {
	t := tidier{left: entries}
	t.walk(dir, maxUsageDepth)
	return t.left
}

// LockFile returns the file whose lock says that the process lives.
func LockFile(w *Workspaces) *os.File { return w.inst.lock }

// Root is the tree of the workspace.
func (ws *Local) Root() *os.Root { return ws.root }

// Session is the session that the workspace belongs to.
func (ws *Local) Session() string { return ws.session }
