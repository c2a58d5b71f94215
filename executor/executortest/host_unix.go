//go:build unix

package executortest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inheritable opens files that a child inherits, as it inherits files that the host process got from
// its own parent. It returns their numbers in order.
func inheritable(t *testing.T) string {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	var opened []int
	for _, least := range []int{3, 5, 200} {
		fd, err := unix.FcntlInt(null.Fd(), unix.F_DUPFD, least)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		opened = append(opened, fd)
	}
	slices.Sort(opened)
	return strings.Trim(fmt.Sprint(opened), "[]")
}

// hasChildren reports whether the test process has a child that runs or was not reaped.
func hasChildren() bool {
	_, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	return !errors.Is(err, syscall.ECHILD)
}

// makePipe makes a named pipe.
func makePipe(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// isHeld reports whether a process has a named pipe open for writing.
func isHeld(t *testing.T, path string) bool {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	_, err = unix.Read(fd, make([]byte, 1)) // at its end without a writer
	return errors.Is(err, unix.EAGAIN)
}
