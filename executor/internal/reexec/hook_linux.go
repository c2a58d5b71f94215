//go:build amd64 || arm64

package reexec

import "syscall"

// init takes over when a Sandbox has started this program. The package comment
// says why this is an init function, the only one of the module.
func init() {
	if called() {
		serve()
	}
}

// called reports whether this process is to be the first of a sandbox. It checks
// the socket first, because for nearly every program that settles the question.
func called() bool {
	var st syscall.Stat_t
	if syscall.Fstat(Control, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return false
	}
	fd, err := syscall.Open("/proc/self/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(fd) }()
	var name [len(Name) + 1]byte
	n, err := syscall.Read(fd, name[:])
	return err == nil && string(name[:n]) == Name+"\x00"
}

// fail reports why the sandbox could not be built. It fails closed: nothing has
// run.
func fail(step string, err error) {
	send(Failed, step+": "+err.Error())
	syscall.Exit(exitFailed)
}

// exitFailed is the exit code of a child that has sent Failed.
const exitFailed = 125

func must(step string, err error) {
	if err != nil {
		fail(step, err)
	}
}
