//go:build amd64 || arm64

package reexec

import "syscall"

// init runs the start hook if a Sandbox has started this program. The package comment says why this
// is an init function, the only one of the module.
func init() {
	if isFirstProcess() {
		serve()
	}
}

// isFirstProcess reports whether a Sandbox has started this process as the first of a sandbox. It
// checks the socket first: nearly every other program has none there.
func isFirstProcess() bool {
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

// fail reports to the Sandbox why a step failed, and ends this process. The program has not run.
func fail(step string, err error) {
	send(Failed, step+": "+err.Error())
	syscall.Exit(exitFailed)
}

// exitFailed is the exit code of a child that has sent Failed.
const exitFailed = 125

// must calls fail if err is not nil.
func must(step string, err error) {
	if err != nil {
		fail(step, err)
	}
}
