//go:build amd64 || arm64

package reexec

import "syscall"

// confine drops the privileges of this thread that the program must not have, and sets its limits.
// The order matters: no step can be undone, and each needs privileges that later steps drop.
func confine(job *received) {
	for _, l := range job.Limits {
		switch l.Resource {
		case rlimitNproc:
			threads := countedThreads(job.Groups)
			l.Soft, l.Hard = l.Soft+threads, l.Hard+threads
		case rlimitData:
			least := leastData()
			l.Soft, l.Hard = max(l.Soft, least), max(l.Hard, least)
		}
		must("set limit", setLimit(l))
	}
	must("drop capabilities", dropBounding())
	if job.Groups {
		must("drop groups", rawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0))
	}
	// These are raw calls: the functions of package syscall would change all threads, and fail
	// in a program with cgo.
	gid, uid := uintptr(job.GID), uintptr(job.UID)
	must("set group", rawSyscall(sysSetresgid, gid, gid, gid))
	must("set user", rawSyscall(sysSetresuid, uid, uid, uid))
	must("drop capabilities", dropCapabilities())
	setDumpable(false) // the change of user has reset it, and the signal below
	must("forbid new privileges", prctl(prSetNoNewPrivs, 1))
	must("die with host", prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL)))
	must("close descriptors", closeOnExec(Control))
	if job.Handled != 0 {
		must("landlock", restrict(job.Job))
	}
	must("seccomp", installFilter(job.Filter))
}

// setLimit sets a resource limit. It never raises a hard limit, so tighter limits of the host stay.
func setLimit(l Limit) error {
	var old syscall.Rlimit
	if err := prlimit(l.Resource, nil, &old); err != nil {
		return err
	}
	return prlimit(l.Resource, &syscall.Rlimit{Cur: min(l.Soft, old.Max), Max: min(l.Hard, old.Max)}, nil)
}

// countedThreads returns how many threads of this process count for the limit on the processes of
// the program's user. If the host is root, only one thread becomes that user. Otherwise all threads
// count; their number does not grow later, see reserveThreads.
func countedThreads(root bool) uint64 {
	var st syscall.Stat_t
	if root || syscall.Stat("/proc/self/task", &st) != nil || st.Nlink < 3 {
		return 1
	}
	return uint64(st.Nlink) - 2
}

// dropBounding removes all capabilities that this kernel knows from the bounding set. Without the
// privilege to do so it leaves the set as it is. That is safe: the program then cannot gain a
// capability from the set.
func dropBounding() error {
	for capability := uintptr(0); capability < 64; capability++ {
		switch err := prctl(prCapBoundingDrop, capability); err {
		case nil:
		case syscall.EINVAL, syscall.EPERM:
			return nil
		default:
			return err
		}
	}
	return nil
}

// dropCapabilities drops all capabilities of this thread, with those that would survive an exec.
func dropCapabilities() error {
	if err := prctl(prCapAmbient, prCapAmbientClear); err != nil && err != syscall.EINVAL {
		return err
	}
	return capset()
}

// restrict puts the thread into a Landlock domain.
func restrict(job *Job) error {
	ruleset, err := createRuleset(job.Handled, job.HandledNet, job.Scoped)
	if err != nil {
		return err
	}
	for _, r := range job.Rules {
		dir, err := syscall.Open(r.Path, oPath|syscall.O_CLOEXEC, 0)
		if err == syscall.ENOENT {
			continue // a path that does not exist needs no rule
		}
		if err != nil {
			return err
		}
		if err = addRule(ruleset, dir, r.Access); err != nil {
			return err
		}
		_ = syscall.Close(dir)
	}
	// The terminal has no path in the sandbox that a rule could name. This rule lets programs
	// open it again, as /dev/stdout or by its own name.
	if job.TTY {
		if err = addRule(ruleset, 0, job.Terminal&job.Handled); err != nil {
			return err
		}
	}
	if err = restrictSelf(ruleset); err != nil {
		return err
	}
	return syscall.Close(ruleset)
}
