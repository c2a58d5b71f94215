//go:build unix

package process

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
)

// openTerminal opens a pseudo terminal: the host's end and the command's. It does
// not become the controlling terminal of this process.
func openTerminal(rows, cols uint16) (ours, theirs *os.File, err error) {
	opened, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open terminal: %w", err)
	}
	// A non-blocking copy replaces the file: Close could not interrupt a Read of the original.
	defer func() { _ = opened.Close() }()
	fd, err := unix.FcntlInt(opened.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("open terminal: %w", err)
	}
	ours = os.NewFile(uintptr(fd), "terminal")
	if err := resizeTerminal(ours, rows, cols); err != nil {
		CloseAll([]*os.File{ours, theirs})
		return nil, nil, err
	}
	return ours, theirs, nil
}

func resizeTerminal(ours *os.File, rows, cols uint16) error {
	conn, err := ours.SyscallConn()
	if err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	var set error
	err = conn.Control(func(fd uintptr) {
		set = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	if err == nil {
		err = set
	}
	if err != nil {
		return fmt.Errorf("resize terminal: %w", err)
	}
	return nil
}

// TerminalCapability opens a terminal to find out whether that works.
func TerminalCapability() executor.Capability {
	ours, theirs, err := openTerminal(defaultRows, defaultCols)
	if err != nil {
		return executor.Capability{Note: err.Error()}
	}
	CloseAll([]*os.File{ours, theirs})
	return executor.Capability{Enforced: true, Note: "a pseudo terminal of its own"}
}
