//go:build unix

package executor

import (
	"io/fs"
	"syscall"
)

// fileID names a file, whatever its names are.
type fileID struct{ device, number uint64 }

// onDisk returns the space that a file takes and, for one that has several
// names, which file it is.
func onDisk(info fs.FileInfo) (bytes int64, id fileID, shared bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size(), fileID{}, false
	}
	return int64(st.Blocks) * 512, fileID{uint64(st.Dev), uint64(st.Ino)}, st.Nlink > 1
}
