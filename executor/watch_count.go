package executor

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Bounds of a count: how deep it goes, with two open directories a step, and how
// many entries it reads at a time.
const (
	maxDiskDepth = 64
	diskBatch    = 256
)

// diskCount adds up what the files of a tree take, while a command changes it.
// It follows no links and opens nothing but directories.
type diskCount struct {
	stop   <-chan struct{}
	most   space // where it stops
	used   space
	hidden bool                // something could not be looked at
	seen   map[fileID]struct{} // files with several names
}

// walk adds a directory. It returns false when stop was closed.
func (c *diskCount) walk(dir *os.Root, depth int) bool {
	f, err := dir.Open(".")
	if err != nil {
		c.hidden = true
		return true
	}
	defer f.Close()
	for {
		select {
		case <-c.stop:
			return false
		default:
		}
		entries, err := f.ReadDir(diskBatch)
		for _, e := range entries {
			if c.used.files++; c.used.exceeds(c.most) {
				return true
			}
			if !c.entry(dir, e, depth) {
				return false
			}
		}
		if err != nil {
			c.hidden = c.hidden || !errors.Is(err, io.EOF)
			return true
		}
	}
}

// entry adds what a directory contains. Entries come and go meanwhile.
func (c *diskCount) entry(dir *os.Root, e fs.DirEntry, depth int) bool {
	if !e.IsDir() {
		if info, err := dir.Lstat(e.Name()); err == nil {
			c.file(info)
		}
		return true
	}
	if depth == maxDiskDepth {
		c.hidden = true
		return true
	}
	// Where a link has taken the place of the directory it leads to a place in
	// the tree, and the depth ends a circle.
	sub, err := dir.OpenRoot(e.Name())
	if err != nil {
		c.hidden = c.hidden || !errors.Is(err, fs.ErrNotExist)
		return true
	}
	defer sub.Close()
	return c.walk(sub, depth+1)
}

func (c *diskCount) file(info fs.FileInfo) {
	bytes, id, shared := onDisk(info)
	if shared {
		if _, twice := c.seen[id]; twice {
			return
		}
		if c.seen == nil {
			c.seen = map[fileID]struct{}{}
		}
		c.seen[id] = struct{}{}
	}
	c.used.bytes += bytes
}
