//go:build !linux

package protocol

import (
	"errors"
	"net"
	"os"
)

// peerUID returns the user of this process: on this system only the mode of the socket keeps
// other users out.
func peerUID(net.Conn) (int, error) { return os.Geteuid(), nil }

// listenPrivate opens a unix socket to which only its owner can connect.
func listenPrivate(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
