package executor

import (
	"os"
	"time"
)

// How often the disk is looked at. The free space of the file system is asked
// for at every tick, and sooner when the rest of the limit can be used up by
// then; the files are counted when it has shrunk by so much that the limit can
// have been met, then at most a fifth of the time, and else every second, at
// most a fiftieth of the time: somebody else may have freed what the command has
// filled. However slow counting is, it is done again when a limit's worth is
// lost.
const (
	diskTick      = 25 * time.Millisecond
	diskQuick     = 2 * time.Millisecond
	diskCalm      = time.Second
	diskBlind     = 200 * time.Millisecond // in place of diskCalm where the free space is not known
	suspectShare  = 5
	calmShare     = 50
	maxDiskFiles  = 200_000
	mostDisk      = 1 << 60 // leaves room to add to
	diskPrecision = 16      // the part of a limit that is too little to count again for
)

// What may be lost besides the limit before what is hidden counts: others write
// to the file system too.
const (
	marginShare = 4
	leastMargin = 128 << 20
)

// diskCheck bounds what the files of a workspace take together.
//
// What counts is blocks, so a hole in a sparse file is nothing, and a file with
// several names counts once. A file that was removed counts too, on Linux, while
// one of the command's processes holds it, open or mapped into memory. What
// cannot be looked at in the tree, because it is too deep or closed to the host,
// counts as the space that the file system has lost since the start.
//
// What the processes can hide, see held, counts in the same way when they do so
// at two counts in a row and more was lost than the limit and a margin. Without
// such a sign a loss is never the command's: on a busy disk that would end
// commands for what others write. With it, it can be: a program that cannot be
// looked into, as an agent for keys, is ended when others write that much. What
// others free meanwhile, the command can hide besides.
//
// The command can write more than the limit: what it writes between two counts,
// a sixteenth of the limit, and when it hides what it has a margin of a quarter,
// at least 128 MiB, beside what it had at the start. Two counts are a tick apart
// or, where many files make counting slow, five times as long as it takes.
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
	hidden      bool  // at the last count
	before      space // free at the last look
	looked      time.Time
}

// space is room on a disk.
type space struct{ bytes, files int64 }

func (s space) plus(t space) space  { return space{s.bytes + t.bytes, s.files + t.files} }
func (s space) minus(t space) space { return space{s.bytes - t.bytes, s.files - t.files} }
func (s space) part(n int64) space  { return space{s.bytes / n, s.files / n} }
func (s space) least(t space) space { return space{min(s.bytes, t.bytes), min(s.files, t.files)} }
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
	d := &diskCheck{workspace: workspace, limit: space{min(limit, mostDisk), maxDiskFiles}, pids: pids, counted: time.Now()}
	d.free = func() (space, bool) { return freeSpace(workspace) }
	d.start, _ = d.free()
	// How much is there already is not known. Counting it would cost every
	// command, however short.
	d.last, d.left = d.start, d.limit.part(diskPrecision)
	d.before, d.looked = d.start, d.counted
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
	start := time.Now()
	rate := d.rate(free, start)
	wait := max(calm, (calmShare-1)*d.took)
	if lost := d.last.minus(free); known && lost.exceeds(d.left) {
		wait = (suspectShare - 1) * d.took
		if lost.exceeds(d.left.plus(d.limit)) {
			wait = 0
		}
	}
	if start.Sub(d.counted) < wait {
		return "", rate.pause(d.left.minus(d.last.minus(free)))
	}
	used, ok := d.count(stop, free)
	if !ok {
		return "", rate.pause(d.left.minus(d.last.minus(free)))
	}
	d.last, d.counted, d.took = free, time.Now(), time.Since(start)
	if used.exceeds(d.limit) {
		return ReasonDisk, 0
	}
	d.left = d.limit.minus(used)
	if d.hidden {
		d.left = d.left.least(d.bound().minus(d.start.minus(free)))
		if d.left.bytes < 0 || d.left.files < 0 { // to be seen once more
			d.left = space{-1 << 62, -1 << 62}
			return "", diskQuick
		}
	}
	d.left = d.left.most(d.limit.part(diskPrecision))
	return "", rate.pause(d.left)
}

// bound is what may be lost when something is hidden.
func (d *diskCheck) bound() space {
	margin := d.limit.part(marginShare)
	margin.bytes = max(margin.bytes, leastMargin)
	return d.limit.plus(margin)
}

// count measures what the command has on disk; ok is false when stop was closed.
func (d *diskCheck) count(stop <-chan struct{}, free space) (used space, ok bool) {
	c := diskCount{stop: stop, most: d.limit, hidden: d.tree == nil}
	if d.tree != nil && !c.walk(d.tree, 0) {
		return space{}, false
	}
	lost := d.start.minus(free)
	if d.tree != nil && d.pids != nil && !c.used.exceeds(c.most) {
		removed, hidden := removedFiles(stop, d.pids(), d.tree)
		c.used = c.used.plus(removed)
		c.hidden = c.hidden || hidden && d.hidden && lost.exceeds(d.bound())
		d.hidden = hidden
	}
	if c.hidden {
		c.used = c.used.most(lost)
	}
	return c.used, true
}

// close implements check.
func (d *diskCheck) close() {
	if d.tree != nil {
		_ = d.tree.Close()
	}
}
