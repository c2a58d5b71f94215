//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// locks reports whether lockFile can tell a living owner from a dead one.
const locks = true

// lockFile takes the lock of an opened file and fails at once if another open
// file holds it. The kernel releases it when the process ends, however it ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// unlockFile releases the lock. Closing the file is not enough: a child process that another
// goroutine is starting has the file open too until its exec.
func unlockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
}

// isOurs reports whether a directory belongs to this user and no other user can write to it. In
// a shared temporary directory, other users may have made a directory of that name.
func isOurs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && info.Mode().Perm()&0o077 == 0 && int(st.Uid) == os.Geteuid()
}

// diskBytes returns the disk space of a file, which for a sparse file is less
// than its size.
func diskBytes(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

// isLinked reports whether a file has further names, which may be outside the workspace.
func isLinked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink > 1
}

// inode is the part of a stamp that only the system knows. The kernel sets changed, in
// nanoseconds of Unix time, whenever the file or its metadata change; programs cannot.
type inode struct {
	device, number, links uint64
	changed               int64
}

func inodeOf(info fs.FileInfo) inode {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}
	}
	return inode{uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink), changeTime(st).Nano()}
}
