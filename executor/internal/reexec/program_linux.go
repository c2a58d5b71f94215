//go:build amd64 || arm64

package reexec

import (
	"runtime"
	"syscall"
)

// serve builds the sandbox, runs the program and ends the process. It runs on the main thread, as
// all init functions do.
//
// Only this thread drops its privileges; the program is its child and inherits that. The other
// threads belong to the Go runtime. The seccomp filter holds for them too, but they keep their
// capabilities, so that the program cannot change their priority. Because this thread is locked,
// the runtime does not clone new threads from it.
func serve() {
	reserveThreads()
	runtime.LockOSThread()
	order := openKillOrder()
	setDumpable(false) // from here on no other process of the same user can inspect this one
	plan := receivePlan()
	if plan.Namespaces {
		ignoreSignals()
		build(plan)
	}
	send(Ready, "")
	job := receiveJob()
	killFirst(order)
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

// start starts the program of the job and returns its number.
func start(job *received) int {
	path, err := find(job.Args[0], job.Dir, job.Env)
	if err == syscall.ENOENT {
		send(NotFound, err.Error())
		syscall.Exit(exitFailed)
	}
	if err == nil {
		var pid int
		pid, err = forkExec(path, job.Args, &syscall.ProcAttr{
			Dir: job.Dir, Env: job.Env, Files: job.descriptors(),
			Sys: &syscall.SysProcAttr{Setsid: true, Setctty: job.TTY, Pdeathsig: syscall.SIGKILL},
		})
		if err == nil {
			send(Started, "")
			closeStreams(job)
			return pid
		}
	}
	switch err {
	case syscall.EACCES, syscall.ENOEXEC, syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.EPERM,
		syscall.E2BIG, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.ETXTBSY:
		why := err.Error()
		if err == syscall.ENOENT {
			why = "its interpreter was not found"
		}
		send(NotExecutable, why)
		syscall.Exit(exitFailed)
	}
	fail("start program", err)
	return 0
}

// forkExec starts the program. It retries while the program file is open for writing: a concurrent
// fork in the host can hold it open for a moment after its writer has closed it.
func forkExec(path string, args []string, attr *syscall.ProcAttr) (pid int, err error) {
	for pause := int64(busyPause); ; pause *= 2 {
		pid, err = syscall.ForkExec(path, args, attr)
		if err != syscall.ETXTBSY || pause > maxBusyPause {
			return pid, err
		}
		wait := syscall.NsecToTimespec(pause)
		_ = syscall.Nanosleep(&wait, nil)
	}
}

// descriptors returns the descriptors that the program gets: its streams and its pipes.
func (job *received) descriptors() []uintptr {
	list := []uintptr{0, 1, 2}
	for _, fd := range job.pipes {
		list = append(list, uintptr(fd))
	}
	return list
}

// closeStreams closes the program's streams and pipes, so that the processes at
// the other ends notice when the program closes them.
func closeStreams(job *received) {
	for _, fd := range job.descriptors() {
		_ = syscall.Close(int(fd))
	}
}

// find returns the path of a program, as a shell finds it: a name on the PATH of env, without
// relative entries, and a path relative to dir. The error is ENOENT or EACCES.
func find(name, dir string, env []string) (string, error) {
	if hasSlash(name) {
		if name[0] != '/' {
			name = dir + "/" + name
		}
		return name, executable(name)
	}
	search := ""
	for _, entry := range env {
		if len(entry) > 5 && entry[:5] == "PATH=" {
			search = entry[5:]
		}
	}
	result := error(syscall.ENOENT)
	for len(search) > 0 {
		end := 0
		for end < len(search) && search[end] != ':' {
			end++
		}
		entry := search[:end]
		search = search[min(end+1, len(search)):]
		if entry == "" || entry[0] != '/' || name == "." || name == ".." {
			continue
		}
		path := entry + "/" + name
		switch executable(path) {
		case nil:
			return path, nil
		case syscall.EACCES:
			result = syscall.EACCES
		}
	}
	return "", result
}

// executable returns an error if a file does not exist (ENOENT) or cannot be executed (EACCES).
func executable(path string) error {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		if err == syscall.EACCES {
			return err
		}
		return syscall.ENOENT
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Mode&0o111 == 0 {
		return syscall.EACCES
	}
	return nil
}

func hasSlash(s string) bool {
	for i := range len(s) {
		if s[i] == '/' {
			return true
		}
	}
	return false
}

// reap reaps processes that have ended and reports the end of the program. When no process is left,
// it reports that and ends this one.
func reap(program int) {
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, 0, &usage)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD
			send(Empty, "")
			syscall.Exit(0)
		case pid == program:
			send(Exited, ending(status, &usage))
		}
	}
}

// ending returns the payload of Exited.
func ending(status syscall.WaitStatus, usage *syscall.Rusage) string {
	var b [12]byte
	for i := range 4 {
		b[i] = byte(status >> (8 * i))
	}
	micros := (usage.Utime.Sec+usage.Stime.Sec)*1e6 + int64(usage.Utime.Usec+usage.Stime.Usec)
	for i := range 8 {
		b[4+i] = byte(micros >> (8 * i))
	}
	return string(b[:])
}
