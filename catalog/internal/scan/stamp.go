package scan

import (
	"io/fs"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Stamp tells without reading a file whether it is still the one that was read: it
// has the same size, modification time and identity (device and inode, where there
// are any).
type Stamp struct {
	Size     int64
	Modified time.Time
	ID       plainfile.ID
	Settled  bool
}

// NewStamp makes the stamp of a file that is read at the time now.
func NewStamp(info fs.FileInfo, now time.Time) Stamp {
	mtime := info.ModTime()
	return Stamp{info.Size(), mtime, plainfile.IDOf(info), !mtime.IsZero() && now.Sub(mtime) > Settle}
}

// Holds reports whether info describes the same file as the stamp. It is false for
// a stamp that cannot be trusted.
func (s Stamp) Holds(info fs.FileInfo) bool {
	return s.Settled && s.Size == info.Size() && s.Modified.Equal(info.ModTime()) && s.ID == plainfile.IDOf(info)
}
