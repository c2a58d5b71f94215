package executor

import (
	"os"
	"time"
)

// How often the disk is looked at. The free space of the file system is asked
// for at every tick; the files are counted when it has shrunk by so much that
// the limit can have been met, then at most a fifth of the time, and else every
// second, at most a fiftieth of the time: somebody else may have freed what the
// command has filled.
const (
	diskTick      = 25 * time.Millisecond
	diskCalm      = time.Second
	diskBlind     = 200 * time.Millisecond // in place of diskCalm where the free space is not known
	suspectShare  = 5
	calmShare     = 50
	maxDiskFiles  = 200_000
	diskPrecision = 16 // the part of a limit that is too little to count again for
)

// diskCheck bounds what the files of a workspace take together.
//
// What counts is blocks, so a hole in a sparse file is nothing, and a file with
// several names counts once. A file that was removed and is still open in one
// of the command's processes counts too, on Linux; one that is only mapped into
// memory, or on its way through a socket, does not. What cannot be looked at,
// because it is too deep or closed to the host, counts as the space that the
// file system has lost since the start.
//
// The command can write more than the limit: what it writes between two counts,
// and a sixteenth of the limit. Two counts are a tick apart or, where many files
// make counting slow, five times as long as it takes.
type diskCheck struct {
	workspace string
	limit     space
	pids      func() []int // may be nil
	free      func() (now space, known bool)

	tree        *os.Root // nil before the first look, and when it cannot be opened
	start, last space    // free at the start, and at the last count
	left        space    // what may be lost before the files are counted again
	counted     time.Time
	took        time.Duration
}

// space is room on a disk.
type space struct{ bytes, files int64 }

func (s space) minus(t space) space { return space{s.bytes - t.bytes, s.files - t.files} }
func (s space) part(n int64) space  { return space{s.bytes / n, s.files / n} }
func (s space) most(t space) space  { return space{max(s.bytes, t.bytes), max(s.files, t.files)} }

// exceeds reports whether s is more than t in something.
func (s space) exceeds(t space) bool { return s.bytes > t.bytes || s.files > t.files }

// newDiskCheck looks after a workspace; pids, which may be nil, returns the
// command's processes. It is called just before the command is started, and
// costs a system call. There is nothing to check, and the result is nil, without
// a limit or a workspace.
func newDiskCheck(workspace string, limit int64, pids func() []int) check {
	if workspace == "" || limit == Unlimited {
		return nil
	}
	d := &diskCheck{workspace: workspace, limit: space{limit, maxDiskFiles}, pids: pids, counted: time.Now()}
	d.free = func() (space, bool) { return freeSpace(workspace) }
	d.start, _ = d.free()
	// How much is there already is not known. Counting it would cost every
	// command, however short.
	d.last, d.left = d.start, d.limit.part(diskPrecision)
	return d
}

// look implements check.
func (d *diskCheck) look(stop <-chan struct{}) (Reason, time.Duration) {
	if d.tree == nil {
		d.tree, _ = os.OpenRoot(d.workspace) // holds it, wherever it is moved
	}
	free, known := d.free()
	calm := diskCalm
	if !known {
		free, calm = d.start, diskBlind
	}
	wait := max(calm, (calmShare-1)*d.took)
	if known && d.last.minus(free).exceeds(d.left) {
		wait = (suspectShare - 1) * d.took
	}
	start := time.Now()
	if start.Sub(d.counted) < wait {
		return "", diskTick
	}
	used, ok := d.count(stop, free)
	if !ok {
		return "", diskTick
	}
	d.last, d.counted, d.took = free, time.Now(), time.Since(start)
	d.left = d.limit.minus(used).most(d.limit.part(diskPrecision))
	if used.exceeds(d.limit) {
		return ReasonDisk, 0
	}
	return "", diskTick
}

// count measures what the command has on disk; ok is false when stop was closed.
func (d *diskCheck) count(stop <-chan struct{}, free space) (used space, ok bool) {
	c := diskCount{stop: stop, most: d.limit, hidden: d.tree == nil}
	if d.tree != nil && !c.walk(d.tree, 0) {
		return space{}, false
	}
	if d.tree != nil && d.pids != nil && !c.used.exceeds(c.most) {
		c.used.bytes += removedFiles(d.pids(), d.tree)
	}
	if c.hidden {
		c.used = c.used.most(d.start.minus(free))
	}
	return c.used, true
}

// close implements check.
func (d *diskCheck) close() {
	if d.tree != nil {
		_ = d.tree.Close()
	}
}
