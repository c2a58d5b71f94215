//go:build amd64 || arm64

package reexec

import (
	"strconv"
	"syscall"
)

// build makes the new root on a file system of its own at plan.Host. It also sets the host name and
// starts the loopback interface.
func build(plan *Plan) {
	must("set host name", syscall.Sethostname([]byte(plan.Hostname)))
	must("start loopback", startLoopback())
	must("make mounts private", syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	must("mount root", syscall.Mount("tmpfs", plan.Host, "tmpfs",
		syscall.MS_NOSUID|syscall.MS_NODEV, "mode=755,size=1m,nr_inodes=512"))
	for i := range plan.Steps {
		apply(&plan.Steps[i], plan.Host, nil)
	}
}

// enter applies the steps of the job and changes the root to the new one. After that no other file
// of the host has a path.
func enter(plan *Plan, job *received) {
	for i := range job.Steps {
		apply(&job.Steps[i], plan.Host, job.files)
	}
	for _, fd := range job.files {
		_ = syscall.Close(fd)
	}
	must("enter root", syscall.Chdir(plan.Host))
	// With "." twice the old root lies on top of the new one, and is then unmounted.
	must("pivot root", syscall.PivotRoot(".", "."))
	must("leave old root", syscall.Unmount(".", syscall.MNT_DETACH))
	must("protect root", setAttributes(atCWD, "/", false, attrReadOnly|attrNoSUID|attrNoDev))
	must("enter root", syscall.Chdir("/"))
}

// apply does one step in the new root at host.
func apply(s *Step, host string, files []int) {
	target := host + s.Target
	switch s.Op {
	case MakeDir:
		must("make "+s.Target, syscall.Mkdir(target, uint32(s.Flags)))
		must("make "+s.Target, syscall.Chmod(target, uint32(s.Flags))) // Mkdir applies the umask
	case MakeFile:
		must("make "+s.Target, writeFile(target, s.Data))
	case MakeLink:
		must("make "+s.Target, syscall.Symlink(s.Source, target))
	case Bind, BindFile:
		tree, err := openTree(s.Source)
		must("open "+s.Source, err)
		if s.Op == BindFile {
			must("make "+s.Target, writeFile(target, ""))
		}
		attach(tree, s, target)
	case BindFD:
		if s.Flags >= uint64(len(files)) {
			fail("bind "+s.Target, errFrame)
		}
		must("bind "+s.Target, moveMount(files[s.Flags], target))
	case Mount:
		must("mount "+s.Target, syscall.Mount(s.Source, target, s.Source, uintptr(s.Flags), s.Data))
	case Cover:
		must("cover "+s.Target, syscall.Mount(host+s.Source, target, "", syscall.MS_BIND, ""))
	case Protect:
		tree, err := openTree(target)
		must("open "+s.Target, err)
		attach(tree, s, target)
	case Set:
		must("set "+s.Target, setFile(target, s.Data))
	case Try:
		_ = setFile(target, s.Data)
	default:
		fail("step "+strconv.Itoa(int(s.Op)), errFrame)
	}
}

// attach sets the attributes of a detached mount and shows it at target.
func attach(tree int, s *Step, target string) {
	must("restrict "+s.Target, setAttributes(tree, "", true, s.Flags))
	must("bind "+s.Target, moveMount(tree, target))
	_ = syscall.Close(tree)
}

// setFile writes data to an existing file.
func setFile(path, data string) error {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = syscall.Write(fd, []byte(data))
	_ = syscall.Close(fd)
	return err
}

// writeFile writes data to a new file with mode 0644.
func writeFile(path, data string) error {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	if _, err = syscall.Write(fd, []byte(data)); err != nil {
		return err
	}
	if err = syscall.Fchmod(fd, 0o644); err != nil {
		return err
	}
	return syscall.Close(fd)
}
