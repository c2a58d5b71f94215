//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/internal/process"
)

// listeners are the sockets of Command.Listen. They belong to the network of the sandbox, so the
// first process opens them. It sends them to the host before the program starts.
type listeners struct {
	serves  []func(net.Listener) // in the order of the ports
	channel *os.File             // the host receives the sockets from it
	sockets []net.Listener
	serving sync.WaitGroup
}

// listenFor returns the listeners for the ports, and the file through which the first process sends
// the sockets. Both are nil if there are no ports.
func listenFor(ports map[uint16]func(net.Listener)) (*listeners, []*os.File, error) {
	if len(ports) == 0 {
		return nil, nil, nil
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open socket to hand out by: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "hand out"), os.NewFile(uintptr(pair[1]), "hand out")
	l := &listeners{channel: ours}
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		l.serves = append(l.serves, ports[port])
	}
	return l, []*os.File{theirs}, nil
}

// serve receives the sockets from the first process, and calls the functions of Command.Listen with
// them.
func (l *listeners) serve() error {
	if l == nil {
		return nil
	}
	files, err := l.receive()
	defer func() { process.CloseAll(files) }()
	if err != nil {
		return err
	}
	if len(files) != len(l.serves) {
		return fmt.Errorf("sandbox: %d sockets handed out, want %d", len(files), len(l.serves))
	}
	for _, file := range files {
		socket, err := net.FileListener(file)
		if err != nil {
			return fmt.Errorf("sandbox: listen: %w", err)
		}
		l.sockets = append(l.sockets, socket)
	}
	for i, socket := range l.sockets {
		l.serving.Go(func() { l.serves[i](socket) })
	}
	return nil
}

// receive returns the sockets. It does not wait: they were sent before the program started.
func (l *listeners) receive() ([]*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4*len(l.serves)))
	var n int
	var err error
	for {
		_, n, _, _, err = unix.Recvmsg(int(l.channel.Fd()), make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = l.channel.Close()
	if err != nil {
		return nil, fmt.Errorf("sandbox: receive sockets: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return nil, fmt.Errorf("sandbox: receive sockets: %w", err)
	}
	var files []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return files, fmt.Errorf("sandbox: receive sockets: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "listener"))
		}
	}
	return files, nil
}

// close closes the sockets and waits up to serveWait for the functions that serve them to return.
func (l *listeners) close() {
	if l == nil {
		return
	}
	_ = l.channel.Close()
	for _, socket := range l.sockets {
		_ = socket.Close()
	}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		l.serving.Wait()
	}()
	process.Within(serveWait, returned)
}
