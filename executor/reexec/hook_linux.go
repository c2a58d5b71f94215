//go:build amd64 || arm64

package reexec

import (
	"runtime"
	"syscall"
)

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

// serve builds the sandbox, runs the program and ends the process. It runs on the
// main thread, to which init functions are bound. Only this thread drops its
// privileges; the program is its child and inherits that. The other threads
// belong to the Go runtime. The seccomp filter covers them too, but they keep
// their capabilities, so that the kernel does not let the program slow them down.
// The lock makes the runtime clone new threads from one that has capabilities,
// and not from this one.
func serve() {
	reserveThreads()
	runtime.LockOSThread()
	setDumpable(false) // from here on no other process of the same user can inspect this one
	plan := receivePlan()
	if plan.Namespaces {
		deafen()
		build(plan)
	}
	send(Ready, "")
	job := receiveJob()
	adoptStreams(job)
	listen(job)
	joinGroups(job, plan.Namespaces)
	if plan.Namespaces {
		enter(plan, job)
	}
	confine(job)
	program := start(job)
	go obey(program, plan.Namespaces)
	reap(program)
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
