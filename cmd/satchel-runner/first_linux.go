package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// runAsFirst runs this program once more, as a child. The first process of a container becomes the parent
// of processes whose own parent has ended. runAsFirst collects these, so that the child only sees its own.
func runAsFirst() (code int, ok bool) {
	runtime.LockOSThread()                                                                  // the child ends with this thread
	child := exec.Command("/proc/self/exe", append([]string{aloneFlag}, os.Args[1:]...)...) //nolint:gosec // it is this program
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := child.Start(); err != nil {
		return 0, false // the runner works without
	}
	_ = hideMemory()
	startThreads(firstThreads)
	_, _ = os.Stdin.Close(), os.Stdout.Close() // the ends of these are the child's
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range ends {
			_ = child.Process.Signal(s)
		}
	}()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return exitFailed, true
		case pid == child.Process.Pid:
			if status.Exited() {
				return status.ExitStatus(), true
			}
			return exitFailed, true
		}
	}
}

// keepFiles keeps inherited files from the commands.
func keepFiles() { _ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) }

// closable returns a file whose reads and writes end when it is closed, and closes f. It returns f if the
// file cannot be copied. A host that hangs may keep its end of a pipe open and take nothing.
func closable(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return f
	}
	_ = unix.SetNonblock(fd, true)
	_ = f.Close()
	return os.NewFile(uintptr(fd), f.Name())
}

// hideMemory closes the memory and the files of this process to the commands, which run as the same user
// and see it.
func hideMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
