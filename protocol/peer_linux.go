package protocol

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// peerUID returns the user at the other end of a unix socket.
func peerUID(conn net.Conn) (int, error) {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return -1, errors.New("not a unix socket")
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return -1, err
	}
	var cred *syscall.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}

// listenPrivate opens a unix socket to which only its owner can connect. It sets the mode before
// it renames the socket to path, so that no other user can connect in between.
func listenPrivate(path string) (net.Listener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path + ".new", Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(path+".new", 0o600), os.Rename(path+".new", path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
