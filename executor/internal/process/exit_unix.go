//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
)

// ExitStatus returns the exit code as a shell would report it, and the signal's
// name.
func ExitStatus(state *os.ProcessState) (int, string) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok {
		return state.ExitCode(), ""
	}
	return StatusOf(status)
}

// StatusOf is ExitStatus for a status of wait4(2).
func StatusOf(status syscall.WaitStatus) (int, string) {
	if !status.Signaled() {
		return status.ExitStatus(), ""
	}
	name := unix.SignalName(status.Signal())
	if name == "" {
		name = "signal " + strconv.Itoa(int(status.Signal()))
	}
	return 128 + int(status.Signal()), name
}

// Refused returns the result for an error in starting a program, if the command caused it. It
// returns false for errors of the host.
func Refused(name string, err error) (executor.Result, bool) {
	for _, errno := range []syscall.Errno{
		syscall.EACCES, syscall.ENOEXEC, syscall.ENOENT, syscall.ENOTDIR,
		syscall.E2BIG, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.ETXTBSY,
	} {
		if !errors.Is(err, errno) {
			continue
		}
		why := errno.Error()
		if errno == syscall.ENOENT {
			why = "its interpreter was not found"
		}
		return NeverRan(126, fmt.Sprintf("%q: not executable: %s", name, why)), true
	}
	return executor.Result{}, false
}

// Shadows returns nil files for os.ProcAttr.Files, after the three streams. They keep descriptors
// that the host has inherited away from its children: the Go runtime closes the descriptor of each
// nil file in the child. There is one for every number above the streams, up to the highest
// descriptor that would survive an exec. Descriptors that Go opens never reach a child. One that C
// code opens between this call and the fork does.
func Shadows() []*os.File {
	highest := 2
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		list, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := list.Readdirnames(-1)
		_ = list.Close()
		for _, name := range names {
			fd, err := strconv.Atoi(name)
			if err != nil || fd <= highest {
				continue
			}
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				highest = fd
			}
		}
		break
	}
	return make([]*os.File, highest-2)
}
