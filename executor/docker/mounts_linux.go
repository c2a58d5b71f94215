package docker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/remote"
)

// space is a workspace that a container can show.
type space struct {
	source string   // the path for the engine
	parent *os.File // the directory of the workspace
	point  string   // the name of the mount in parent; "" if there is none
}

// openSpace opens the workspace of a job. The engine resolves the source of a mount through links.
// So the source is an entry of the host's own directory, which no command can write to.
func openSpace(j remote.Job, u user) (_ *space, err error) {
	up, name := filepath.Split(filepath.Clean(j.Workspace))
	if !filepath.IsAbs(j.Workspace) || name == "" {
		return nil, fmt.Errorf("%w: workspace %q is not an absolute path below another directory", executor.ErrCommand, j.Workspace)
	}
	if up, err = filepath.EvalSymlinks(up); err != nil {
		return nil, fmt.Errorf("%w: workspace: %w", executor.ErrCommand, err)
	}
	s := &space{source: filepath.Join(up, name)}
	if s.parent, err = openDir(unix.AT_FDCWD, up); err != nil {
		return nil, fmt.Errorf("%w: workspace: %w", executor.ErrCommand, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	dir, err := openDir(int(s.parent.Fd()), name)
	if err != nil {
		return nil, fmt.Errorf("%w: workspace %q is no directory, or a link to one: %w", executor.ErrCommand, j.Workspace, err)
	}
	defer func() { _ = dir.Close() }()
	if err := sameAs(dir, j.Verify); err != nil {
		return nil, err
	}
	if u.owner == nil {
		return s, nil
	}
	err = removePoints(up)
	if err == nil {
		err = s.attach(dir, u.owner)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", executor.ErrSetup, err)
	}
	return s, nil
}

// openDir opens a directory by its name. The last element must not be a link.
func openDir(at int, name string) (*os.File, error) {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// sameAs returns an error if a directory is not the one that the job names as its workspace.
func sameAs(dir *os.File, verify []remote.Identity) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &stat); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrSetup, err)
	}
	for _, v := range verify {
		if v.At == workspaceAt && (v.Dev != uint64(stat.Dev) || v.Ino != stat.Ino) {
			return fmt.Errorf("%w: the workspace is another directory than a moment ago", executor.ErrSetup)
		}
	}
	return nil
}

// attach shows a directory beside itself, with other owners.
func (s *space) attach(dir *os.File, by *owner) error {
	tree, err := by.mount(dir)
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }()
	self, err := thisInstance()
	if err != nil {
		return err
	}
	name := self.fileName(pointPrefix)
	if err := unix.Mkdirat(int(s.parent.Fd()), name, 0o700); err != nil {
		return fmt.Errorf("make %q: %w", name, err)
	}
	s.point, s.source = name, filepath.Join(filepath.Dir(s.source), name)
	point, err := openDir(int(s.parent.Fd()), name)
	if err != nil {
		return err
	}
	defer func() { _ = point.Close() }()
	if err := unix.MoveMount(int(tree.Fd()), "", int(point.Fd()), "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("attach the workspace: %w", err)
	}
	return nil
}

// close removes the mount. A container that has started has a mount of its own.
func (s *space) close() error {
	defer func() { _ = s.parent.Close() }()
	if s.point == "" {
		return nil
	}
	return detach(s.source)
}

// detach unmounts a directory, if anything is mounted there, and removes it.
func detach(path string) error {
	err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) { // nothing is mounted there
		err = nil
	}
	if err == nil {
		err = unix.Rmdir(path)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%w: remove mount %q: %w", executor.ErrSetup, path, err)
	}
	return nil
}

// sweepMounts removes the mounts of processes that are gone. Only root makes them, and can remove them.
func sweepMounts(self instance) error {
	if os.Geteuid() != 0 {
		return nil
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		path := unescape(fields[4])
		if by, ok := parseFileName(pointPrefix, filepath.Base(path), self); ok && by.isOver(self) {
			errs = append(errs, detach(path))
		}
	}
	return errors.Join(errs...)
}

// removePoints removes the directories for mounts that processes which are gone have left in a directory. A
// process that ends between making one and mounting there leaves it empty, and sweepMounts does not see it.
func removePoints(dir string) error {
	self, err := thisInstance()
	if err != nil {
		return err
	}
	at, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }()
	names, err := at.Readdirnames(-1)
	for _, name := range names {
		if by, ok := parseFileName(pointPrefix, name, self); ok && by.isOver(self) {
			_ = unix.Unlinkat(int(at.Fd()), name, unix.AT_REMOVEDIR) // refused if it is in use
		}
	}
	return err
}

// sweepTemp removes what processes that are gone have left in a directory for temporary files: the
// profiles of Podman, and empty workspaces of trials.
func sweepTemp(dir string, self instance) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if by, ok := parseFileName(profilePrefix, e.Name(), self); ok && by.isOver(self) {
			_ = os.Remove(path) // the next Open tries again
		}
		if by, ok := parseFileName(trialPrefix, e.Name(), self); ok && by.isOver(self) {
			removeTrial(path)
		}
	}
	return err
}

// removeTrial removes a directory of a trial, if only an empty workspace is in it. Others may write to the
// directory above, so it follows no link.
func removeTrial(path string) {
	if dir, err := openDir(unix.AT_FDCWD, path); err == nil {
		_ = unix.Unlinkat(int(dir.Fd()), trialWorkspace, unix.AT_REMOVEDIR)
		_ = dir.Close()
	}
	_ = os.Remove(path) // refused if it is not empty
}

// unescape returns a path of /proc/self/mountinfo, in which some characters are octal numbers.
func unescape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
