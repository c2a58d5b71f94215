//go:build amd64 || arm64

package executor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideID is the user and group that a command is, as it sees itself.
const insideID = 1000

// ownership maps users where the host is root. The sandbox's user 0, who only
// builds, and its user insideID, who runs the command, are two users of the
// host who own nothing there and are nobody. On disk the workspace belongs to
// root nonetheless: it is shown through a mount that translates the owner.
type ownership struct {
	first int      // the host's number of the sandbox's user 0; insideID is the next
	ns    *os.File // the user namespace that holds the translation of the mount
}

// firstID is above the numbers that distributions give to users, to containers
// and to services.
const firstID = 0x7a00_0000

// newOwnership fails where this process may not map users.
func newOwnership(by *nursery) (*ownership, error) {
	o := &ownership{first: firstID}
	if last, err := lastID(); err != nil {
		return nil, err
	} else if last < firstID+2 {
		// In a user namespace itself: the last two that it has.
		o.first = last - 2
	}
	var err error
	o.ns, err = newUserNamespace(by,
		[]syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: o.first + 1, Size: 1}},
		[]syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: o.first + 1, Size: 1}})
	return o, err
}

// inside is the mapping of a sandbox's users and groups.
func (o *ownership) inside() []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{
		{ContainerID: 0, HostID: o.first, Size: 1},
		{ContainerID: insideID, HostID: o.first + 1, Size: 1},
	}
}

// Close lets go of the mapping.
func (o *ownership) Close() error { return o.ns.Close() }

// mount returns a detached mount of dir on which the files of this process's
// user belong to the sandbox's user. The last name of dir must not be a link.
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

// lastID returns the first number above those that this process's user
// namespace has.
func lastID() (last int, err error) {
	err = eachMapping(func(inside, _, count int) { last = max(last, inside+count) })
	return last, err
}

// standsForUser reports whether this process is the root of a user namespace and
// to the one above an ordinary user: all that it owns belongs to that user.
func standsForUser() (user bool) {
	err := eachMapping(func(inside, outside, _ int) { user = user || inside == 0 && outside != 0 })
	return user && err == nil
}

// eachMapping goes through the numbers of users that this process's user
// namespace has, and what they are in the one above.
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

// newUserNamespace returns a user namespace with a mapping, without any process
// in it: the one that it was made with waits for a plan that never comes.
func newUserNamespace(by *nursery, uids, gids []syscall.SysProcIDMap) (*os.File, error) {
	p, err := by.boot(context.Background(), &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, UidMappings: uids, GidMappings: gids, Pdeathsig: syscall.SIGKILL,
	})
	if err != nil {
		return nil, err
	}
	defer p.discard()
	return os.Open("/proc/" + strconv.Itoa(p.proc.Pid) + "/ns/user")
}
