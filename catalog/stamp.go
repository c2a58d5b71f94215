package catalog

import (
	"io/fs"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// settle is how long after its modification a file must have been read for its stamp to be
// trusted. Two edits within one tick of the clock of the file system (up to 2 s on FAT) leave
// the same time. So a file that was read earlier than that is read again.
const settle = 2 * time.Second

// stamp tells without reading a file whether it is still the one that was read: it
// has the same size, modification time and identity (device and inode, where there
// are any).
type stamp struct {
	size     int64
	modified time.Time
	id       plainfile.ID
	settled  bool
}

// newStamp makes the stamp of a file that is read at the time now.
func newStamp(info fs.FileInfo, now time.Time) stamp {
	mtime := info.ModTime()
	return stamp{info.Size(), mtime, plainfile.IDOf(info), !mtime.IsZero() && now.Sub(mtime) > settle}
}

// holds reports whether info describes the same file as the stamp. It is false for
// a stamp that cannot be trusted.
func (s stamp) holds(info fs.FileInfo) bool {
	return s.settled && s.size == info.Size() && s.modified.Equal(info.ModTime()) && s.id == plainfile.IDOf(info)
}
