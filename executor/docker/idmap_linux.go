package docker

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner translates the owners of files between this process's user, on the disk, and that of a
// container.
type owner struct {
	ns *os.File // the user namespace that a mount translates with
}

// newOwner returns the owner for a user and group. With exchanged, the user of a container also becomes this
// process's user. A runtime such as gVisor creates files as root before it gives them to the container's user,
// and a mount refuses files of users that it does not translate.
func newOwner(uid, gid int, exchanged bool) (*owner, error) {
	ns, err := newUserNamespace(translation(uid, exchanged), translation(gid, exchanged))
	if err != nil {
		return nil, fmt.Errorf("map users: %w", err)
	}
	return &owner{ns}, nil
}

// translation returns how a mount shows a user or group. ContainerID is the number on the disk.
func translation(id int, exchanged bool) []syscall.SysProcIDMap {
	list := []syscall.SysProcIDMap{{ContainerID: id, HostID: containerID, Size: 1}}
	if exchanged && id != containerID {
		list = append(list, syscall.SysProcIDMap{ContainerID: containerID, HostID: id, Size: 1})
	}
	return list
}

// newUserNamespace returns a user namespace with a mapping but without processes. It starts this
// program in the namespace. The kernel stops that before its first instruction, because it is
// traced, and it is killed then.
func newUserNamespace(uids, gids []syscall.SysProcIDMap) (_ *os.File, err error) {
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	p, err := os.StartProcess("/proc/self/exe", []string{"satchel-users"}, &os.ProcAttr{Env: []string{}, Sys: &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, UidMappings: uids, GidMappings: gids, Ptrace: true, Pdeathsig: syscall.SIGKILL,
	}})
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = p.Kill()
		var status syscall.WaitStatus
		for { // the stop of the trace comes before the end
			if _, waitErr := syscall.Wait4(p.Pid, &status, 0, nil); waitErr != nil && !errors.Is(waitErr, syscall.EINTR) || status.Exited() || status.Signaled() {
				break
			}
		}
		_ = p.Release()
	}()
	return os.Open("/proc/" + strconv.Itoa(p.Pid) + "/ns/user")
}

// mount returns a detached mount of an open directory, with the owners of a container.
func (o *owner) mount(dir *os.File) (*os.File, error) {
	fd, err := unix.OpenTree(int(dir.Fd()), "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return nil, fmt.Errorf("open %q as mount: %w", dir.Name(), err)
	}
	tree := os.NewFile(uintptr(fd), dir.Name())
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{
		Attr_set: unix.MOUNT_ATTR_IDMAP | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Userns_fd: uint64(o.ns.Fd()),
	})
	if errors.Is(err, unix.EINVAL) {
		err = fmt.Errorf("%w: its file system has no mounts that translate owners; put the workspaces on ext4, xfs, btrfs or tmpfs", err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map owners of %q: %w", dir.Name(), err), tree.Close())
	}
	return tree, nil
}
