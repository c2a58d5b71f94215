package process

// count adds up the disk space of the files in a tree while a command changes it.
// It follows no links and opens nothing but directories.
type count struct {
	stop   <-chan struct{}
	most   space // counting stops when used exceeds it
	used   space
	hidden bool                // some files could not be counted
	seen   map[fileID]struct{} // counted files that have several names
}

// fileID identifies a file, whatever its names are.
type fileID struct{ device, number uint64 }

// isStopped reports whether stop was closed.
func (c *count) isStopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// add counts a directory entry; a file with several names counts once.
func (c *count) add(bytes int64, id fileID, links uint64) {
	if links > 1 {
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
