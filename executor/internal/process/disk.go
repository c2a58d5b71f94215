package process

import (
	"os"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// diskCheck bounds the disk space of all files in a workspace together.
//
// It counts blocks, so a hole in a sparse file takes nothing, and a file with several names
// counts once. On Linux a removed file also counts while one of the command's processes has it
// open or mapped into memory.
//
// Some files cannot be counted: those in a directory that the host may not read, and those that
// the processes hide, see heldFiles. If two counts in a row show a sign of such files, the check
// charges the command for the space that the file system has lost since the check began. It
// charges no more than the command's own processes have written, and only if that exceeds the
// limit and a margin both times. So a command does not pay for what others write meanwhile. If
// the host may not see how much a process has written, all the lost space is charged.
//
// The command can write more than the limit: what it writes between two counts, and a sixteenth
// of the limit. If it hides files, it can write a margin of a quarter more, at least 128 MiB, and
// files of before the start do not count. Two counts are a tick apart. If many files make counting
// slow, they are five times the duration of a count apart.
type diskCheck struct {
	workspace string
	limit     space
	pids      func() []int // may be nil
	free      func() (now space, known bool)
	written   func(pids []int) (bytes int64, known bool)

	tree     *os.File // nil before the first look, and if it cannot be opened
	mostFree space    // the most free space so far

	// Of the last count of the files:
	countedAt   time.Time
	countTook   time.Duration
	countedFree space // free space then
	allowance   space // how much may be lost before the files are counted again
	hidden      bool  // there was a sign of hidden files
	charge      space // for hidden files

	// Of the last look:
	lookedAt   time.Time
	lookedFree space // free space then
}

// space is an amount of disk space: bytes and files.
type space struct{ bytes, files int64 }

func (s space) plus(t space) space  { return space{s.bytes + t.bytes, s.files + t.files} }
func (s space) minus(t space) space { return space{s.bytes - t.bytes, s.files - t.files} }
func (s space) part(n int64) space  { return space{s.bytes / n, s.files / n} }
func (s space) least(t space) space { return space{min(s.bytes, t.bytes), min(s.files, t.files)} }
func (s space) most(t space) space  { return space{max(s.bytes, t.bytes), max(s.files, t.files)} }

// exceeds reports whether s is larger than t in bytes or in files.
func (s space) exceeds(t space) bool { return s.bytes > t.bytes || s.files > t.files }

// Disk returns the check of a workspace; pids, which may be nil, returns the
// command's processes. Call it just before the command is started; it costs one
// system call. Without a limit or a workspace there is nothing to check, and the
// result is nil.
func Disk(workspace string, limit int64, pids func() []int) Check {
	if workspace == "" || limit < 0 {
		return nil
	}
	d := &diskCheck{workspace: workspace, limit: space{min(limit, maxDisk), maxDiskFiles}, pids: pids, written: writtenBy, countedAt: time.Now()}
	d.free = func() (space, bool) { return freeSpace(workspace) }
	d.mostFree, _ = d.free()
	// The size of the workspace is unknown here: counting it would cost every command time,
	// however short the command is.
	d.countedFree, d.allowance = d.mostFree, d.limit.part(diskPrecision)
	d.lookedFree, d.lookedAt = d.mostFree, d.countedAt
	return d
}

// look implements Check. It counts the files if the lost space, or the time since the last count, is
// large enough.
func (d *diskCheck) look(stop <-chan struct{}) (executor.Reason, time.Duration) {
	if d.tree == nil {
		d.tree, _ = os.Open(d.workspace) // the open directory stays the right one, even if it is moved
	}
	free, known := d.free()
	calm := diskCalm
	if !known {
		free, calm = d.mostFree, diskBlind
	}
	d.mostFree = d.mostFree.most(free) // somebody has freed space
	start := time.Now()
	rate := d.rate(free, start)
	wait := max(calm, (calmShare-1)*d.countTook)
	if lost := d.countedFree.minus(free); known && lost.exceeds(d.allowance) {
		wait = (suspectShare - 1) * d.countTook
		if lost.exceeds(d.allowance.plus(d.limit)) {
			wait = 0
		}
	}
	if start.Sub(d.countedAt) < wait {
		return "", rate.pause(d.allowance.minus(d.countedFree.minus(free)))
	}
	used, ok := d.count(stop, free)
	if !ok {
		return "", rate.pause(d.allowance.minus(d.countedFree.minus(free)))
	}
	d.countedFree, d.countedAt, d.countTook = free, time.Now(), time.Since(start)
	if used.exceeds(d.limit) {
		return executor.ReasonDisk, 0
	}
	d.allowance = d.limit.minus(used)
	if d.hidden {
		d.allowance = d.allowance.least(d.bound().minus(d.charge))
		if d.allowance.bytes < 0 || d.allowance.files < 0 { // so it must be counted once more
			d.allowance = space{-1 << 62, -1 << 62}
			return "", diskQuick
		}
	}
	d.allowance = d.allowance.most(d.limit.part(diskPrecision))
	return "", rate.pause(d.allowance)
}

// bound returns the largest charge for hidden files that is allowed: the limit and a margin.
func (d *diskCheck) bound() space {
	margin := d.limit.part(marginShare)
	margin.bytes = max(margin.bytes, minMargin)
	return d.limit.plus(margin)
}

// count measures what the command has on disk; ok is false if stop was closed.
func (d *diskCheck) count(stop <-chan struct{}, free space) (used space, ok bool) {
	c := count{stop: stop, most: d.limit, hidden: d.tree == nil}
	if d.tree != nil && !c.tree(d.tree) {
		return space{}, false
	}
	var pids []int
	if d.pids != nil && !c.used.exceeds(c.most) {
		pids = d.pids()
		if d.tree != nil {
			removed, hidden := removedFiles(stop, pids, d.tree)
			c.used, c.hidden = c.used.plus(removed), c.hidden || hidden
		}
	}
	again, before := d.hidden && c.hidden, d.charge
	if d.hidden = c.hidden; d.hidden {
		d.charge = d.mostFree.minus(free)
		if written, known := d.written(pids); known {
			d.charge.bytes = min(d.charge.bytes, written)
		}
		// Use the lesser of two counts: the host may be unable to look into a
		// process for a moment while it starts or ends.
		if both := d.charge.least(before); again && both.exceeds(d.bound()) {
			c.used = c.used.most(both)
		}
	}
	return c.used, true
}

// close implements Check.
func (d *diskCheck) close() {
	if d.tree != nil {
		_ = d.tree.Close()
	}
}
