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
	ours, theirs, err := handOut()
	if err != nil {
		return nil, nil, err
	}
	l := &listeners{channel: ours}
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		l.serves = append(l.serves, ports[port])
	}
	return l, []*os.File{theirs}, nil
}

// handOut returns two connected sockets: the first process sends descriptors by theirs.
func handOut() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open socket to hand out by: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "hand out"), os.NewFile(uintptr(pair[1]), "hand out"), nil
}

// serve receives the sockets from the first process, and calls the functions of Command.Listen with
// them.
func (l *listeners) serve() error {
	if l == nil {
		return nil
	}
	files, err := receiveFiles(l.channel, len(l.serves))
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

// receiveFiles returns at most n files that the first process has sent, and closes the channel. It does not
// wait: the first process sends them before the message on the control socket.
func receiveFiles(channel *os.File, n int) ([]*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4*n))
	var err error
	for {
		_, n, _, _, err = unix.Recvmsg(int(channel.Fd()), make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = channel.Close()
	if err != nil {
		return nil, fmt.Errorf("sandbox: receive descriptors: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return nil, fmt.Errorf("sandbox: receive descriptors: %w", err)
	}
	var files []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return files, fmt.Errorf("sandbox: receive descriptors: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
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
