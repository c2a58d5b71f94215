package docker

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// user says as which user a container runs, and how the files of this process's user become its own.
type user struct {
	in    string // user and group in the container
	mode  string // of the container's user namespace
	owner *owner // translates the owner of the workspace; nil if that is not needed
}

// userOf returns the user for the containers of an engine. isBoundary says that the runtime creates files as root.
func userOf(e *engine, isBoundary bool) (user, error) {
	uid, gid := os.Geteuid(), os.Getegid()
	own := fmt.Sprintf("%d:%d", uid, gid)
	switch {
	case e.isRootless && e.isPodman:
		return user{in: own, mode: "keep-id"}, nil
	case e.isRootless: // root in the engine's user namespace is the engine's user
		return user{in: "0:0"}, nil
	case uid != 0:
		return user{in: own}, nil
	}
	o, err := newOwner(uid, gid, isBoundary)
	if err != nil {
		return user{}, failure(err, "root cannot give containers its files: %v: run this program as an ordinary user", err)
	}
	return user{in: fmt.Sprintf("%d:%d", containerID, containerID), owner: o}, nil
}

// close frees what the user holds.
func (u user) close() {
	if u.owner != nil {
		_ = u.owner.ns.Close()
	}
}

// maxProcesses returns the hard limit of processes of this process.
func maxProcesses() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &l) != nil {
		return 1024
	}
	return l.Max
}
