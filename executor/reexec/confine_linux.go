//go:build amd64 || arm64

package reexec

import "syscall"

// confine gives up what the program must not have, on this thread, in an order
// in which each step still may be done. What it gives up cannot be had again.
func confine(job *received) {
	for _, l := range job.Limits {
		switch l.Resource {
		case rlimitNproc:
			own := ownThreads(job.Groups)
			l.Soft, l.Hard = l.Soft+own, l.Hard+own
		case rlimitData:
			own := ownData()
			l.Soft, l.Hard = max(l.Soft, own), max(l.Hard, own)
		}
		must("set limit", setLimit(l))
	}
	must("drop capabilities", dropBounding())
	if job.Groups {
		must("drop groups", rawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0))
	}
	// The calls of package syscall would change all threads, and cannot in a
	// program with cgo.
	gid, uid := uintptr(job.GID), uintptr(job.UID)
	must("set group", rawSyscall(sysSetresgid, gid, gid, gid))
	must("set user", rawSyscall(sysSetresuid, uid, uid, uid))
	must("drop capabilities", dropCapabilities())
	setDumpable(false) // a change of user has reset it
	must("forbid new privileges", prctl(prSetNoNewPrivs, 1))
	must("die with host", prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL))) // likewise
	must("close descriptors", closeOnExec(Control))
	if job.Handled != 0 {
		must("landlock", restrict(job.Job))
	}
	must("seccomp", installFilter(job.Filter))
}

// setLimit never raises a hard limit: a host under tighter limits wants them to
// hold.
func setLimit(l Limit) error {
	var old syscall.Rlimit
	if err := prlimit(l.Resource, nil, &old); err != nil {
		return err
	}
	return prlimit(l.Resource, &syscall.Rlimit{Cur: min(l.Soft, old.Max), Max: min(l.Hard, old.Max)}, nil)
}

// ownThreads is how many threads of this process count as the program's user's
// own, against its limit: as root only the one that becomes that user, otherwise
// all of them, and the one that obey will need.
func ownThreads(root bool) uint64 {
	var st syscall.Stat_t
	if root || syscall.Stat("/proc/self/task", &st) != nil || st.Nlink < 3 {
		return 1
	}
	return uint64(st.Nlink) - 2 + 1
}

// dropBounding empties the bounding set, up to the last capability that this
// kernel knows. Without the privilege to do so the set stays: there is then no
// way to gain anything from it either.
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

// dropCapabilities gives up all capabilities of this thread, those that an
// exec would keep too.
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
			continue // what is not there needs no permission
		}
		if err != nil {
			return err
		}
		if err = addRule(ruleset, dir, r.Access); err != nil {
			return err
		}
		_ = syscall.Close(dir)
	}
	// The terminal has no path here by which a rule could be given; it can be
	// opened again, as /dev/stdout or by its own program, through this.
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
