//go:build amd64 || arm64

package sandbox

import (
	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
)

// The access rights of Landlock that a sandbox uses.
const (
	landlockReadDir = unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockProc    = landlockReadDir | unix.LANDLOCK_ACCESS_FS_READ_FILE
	landlockRead    = landlockReadDir | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	landlockDevice  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	landlockWrite = landlockRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	landlockAll = landlockWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// handled returns what the kernel's version of Landlock can restrict: access to
// files, access to the network unless a namespace restricts that, and access to
// processes and abstract sockets outside.
func (s *Sandbox) handled() (fs, net, scoped uint64) {
	if s.abi < 1 {
		return 0, 0, 0
	}
	fs = landlockAll
	if s.abi < 2 {
		fs &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if s.abi < 3 {
		fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if s.abi < 5 {
		fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if s.abi >= 4 && s.caps.Isolation == executor.IsolationLandlock {
		net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if s.abi >= 6 {
		scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return fs, net, scoped
}
