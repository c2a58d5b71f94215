//go:build amd64 || arm64

package reexec

import "syscall"

// init takes over when a Sandbox has started this program. See the package's
// documentation for why it is an init function, the only one of the module.
func init() {
	if called() {
		serve()
	}
}

// called reports whether this process is to be the first of a sandbox. The
// socket is looked for first: nearly every program is done with that.
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

// serve builds the sandbox, runs the program and ends the process. It runs on
// the main thread, to which init functions are bound: what is given up is given
// up by this thread, and the program is its child and inherits that. The other
// threads are the Go runtime's; the seccomp filter covers them too.
func serve() {
	setDumpable(false) // from here on nobody of the same user looks into this process
	plan := receivePlan()
	if plan.Namespaces {
		deafen()
		build(plan)
	}
	send(Ready, "")
	job := receiveJob()
	adoptStreams(job)
	joinGroups(job, plan.Namespaces)
	if plan.Namespaces {
		enter(plan, job)
	}
	confine(job)
	program := start(job)
	go obey(program, plan.Namespaces)
	reap(program)
}

// fail reports why there is no sandbox. It fails closed: nothing has run.
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
