//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideID is the user and group of a command, as the command sees them.
const insideID = 1000

// ownership maps users if the host is root. The sandbox has two users: 0, which only builds it,
// and insideID, which runs the command. Both are mapped to users of the host that own nothing
// there and have no rights. On disk the workspace still belongs to root: the command sees it
// through a mount that translates the owner.
type ownership struct {
	first int      // the host's number for the sandbox's user 0; insideID gets the next one
	ns    *os.File // the user namespace with which the mount translates owners
}

// firstID is above the user numbers that distributions assign to users, containers and services.
const firstID = 0x7a00_0000

// sharedOwnership is the ownership of all Sandboxes of this process.
var sharedOwnership struct {
	sync.Mutex
	uid, gid int // of the files that it maps
	*ownership
}

// ownershipOf returns the ownership for the user of this process, or an error if this process may
// not map users. It creates the user namespace once, because that takes a process.
func ownershipOf(by *spawner) (*ownership, error) {
	uid, gid := os.Geteuid(), os.Getegid()
	sharedOwnership.Lock()
	defer sharedOwnership.Unlock()
	if sharedOwnership.ownership != nil && sharedOwnership.uid == uid && sharedOwnership.gid == gid {
		return sharedOwnership.ownership, nil
	}
	o, err := newOwnership(by, uid, gid)
	if err != nil {
		return nil, err
	}
	sharedOwnership.uid, sharedOwnership.gid, sharedOwnership.ownership = uid, gid, o
	return o, nil
}

func newOwnership(by *spawner, uid, gid int) (*ownership, error) {
	o := &ownership{first: firstID}
	if end, err := endID(); err != nil {
		return nil, err
	} else if end < firstID+2 {
		// This process is in a user namespace: take the last two numbers that it has.
		o.first = end - 2
	}
	var err error
	o.ns, err = newUserNamespace(by,
		[]syscall.SysProcIDMap{{ContainerID: uid, HostID: o.first + 1, Size: 1}},
		[]syscall.SysProcIDMap{{ContainerID: gid, HostID: o.first + 1, Size: 1}})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// inside returns the mapping of a sandbox's users and groups.
func (o *ownership) inside() []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{
		{ContainerID: 0, HostID: o.first, Size: 1},
		{ContainerID: insideID, HostID: o.first + 1, Size: 1},
	}
}

// mount returns a detached mount of dir in which the files of this process's user
// belong to the sandbox's user. The last element of dir must not be a link.
func (o *ownership) mount(dir string, attributes uint64) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return nil, fmt.Errorf("open %q as mount: %w", dir, err)
	}
	tree := os.NewFile(uintptr(fd), dir)
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{
		Attr_set: attributes | unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(o.ns.Fd()),
	})
	if errors.Is(err, unix.EINVAL) {
		err = fmt.Errorf("%w: its file system has no mounts that translate owners; put the workspaces on ext4, xfs, btrfs or tmpfs", err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map owners of %q: %w", dir, err), tree.Close())
	}
	return tree, nil
}

// endID returns the number after the last one that this process's user namespace maps.
func endID() (end int, err error) {
	err = eachMapping(func(inside, _, count int) { end = max(end, inside+count) })
	return end, err
}

// standsForUser reports whether root in this process's user namespace is an ordinary user outside.
// All files of this process then belong to that user.
func standsForUser() (isUser bool) {
	err := eachMapping(func(inside, outside, _ int) { isUser = isUser || inside == 0 && outside != 0 })
	return isUser && err == nil
}

// eachMapping calls do for each range of user numbers in this process's user
// namespace, with the corresponding numbers of the namespace above.
func eachMapping(do func(inside, outside, count int)) error {
	file, err := os.Open("/proc/self/uid_map")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var inside, outside, count int
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &count); err != nil {
			return fmt.Errorf("read uid_map: %w", err)
		}
		do(inside, outside, count)
	}
	return nil
}

// newUserNamespace returns a user namespace with a mapping but without processes. It starts a
// process in a new namespace, opens the namespace, and ends the process.
func newUserNamespace(by *spawner, uids, gids []syscall.SysProcIDMap) (*os.File, error) {
	p, err := by.boot(context.Background(), &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, UidMappings: uids, GidMappings: gids, Pdeathsig: syscall.SIGKILL,
	})
	if err != nil {
		return nil, err
	}
	defer p.discard()
	return os.Open("/proc/" + strconv.Itoa(p.proc.Pid) + "/ns/user")
}
