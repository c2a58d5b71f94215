package catalog

import (
	"io/fs"
	"os"
	"time"
)

// settle is how long after its modification a file must have been read for its
// stamp to be trusted. Two edits within one tick of the clock of the file system
// (up to 2 s on FAT) leave the same time, so a file that was read earlier than that
// is read again.
const settle = 2 * time.Second

// stamp tells without reading a file whether it is still the one that was read: it
// has the same size, modification time and identity (device and inode, where there
// are any).
type stamp struct {
	info    fs.FileInfo
	settled bool
}

// newStamp makes the stamp of a file that is read at the time now.
func newStamp(info fs.FileInfo, now time.Time) stamp {
	mtime := info.ModTime()
	return stamp{info: info, settled: !mtime.IsZero() && now.Sub(mtime) > settle}
}

// holds reports whether info describes the same file as the stamp. It is false for
// a stamp that cannot be trusted.
func (s stamp) holds(info fs.FileInfo) bool {
	if !s.settled || s.info.Size() != info.Size() || !s.info.ModTime().Equal(info.ModTime()) {
		return false
	}
	// SameFile knows only what package os made; any other file system has no
	// identity to compare, not even with itself.
	return os.SameFile(s.info, info) || !os.SameFile(s.info, s.info)
}
