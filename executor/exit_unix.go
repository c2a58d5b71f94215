//go:build unix

package executor

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// exitStatus returns the exit code as a shell would and the signal's name.
func exitStatus(state *os.ProcessState) (int, string) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok {
		return state.ExitCode(), ""
	}
	return statusOf(status)
}

// statusOf is exitStatus for what wait4(2) gives.
func statusOf(status syscall.WaitStatus) (int, string) {
	if !status.Signaled() {
		return status.ExitStatus(), ""
	}
	name := unix.SignalName(status.Signal())
	if name == "" {
		name = "signal " + strconv.Itoa(int(status.Signal()))
	}
	return 128 + int(status.Signal()), name
}

// refused is the result of a program that the kernel would not execute, for a
// reason that lies in the command. Other errors are the host's.
func refused(name string, err error) (Result, bool) {
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
		return neverRan(126, fmt.Sprintf("%q: not executable: %s", name, why)), true
	}
	return Result{}, false
}

// shadows returns what keeps the descriptors that the host itself inherited
// from its children: an empty entry for every number above the streams, up to
// the highest that would pass through exec. The runtime closes those in the
// child, so the host's own flags are left as they are. Descriptors that Go
// opens never pass; one that C code opens between this look and the fork does.
func shadows() []*os.File {
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
