//go:build amd64 || arm64

package reexec

import (
	"syscall"
	"unsafe"
)

// Numbers and flags of system calls that package syscall lacks. Package x/sys has them, but Go would
// initialise it before this one. From 424 on the numbers are the same on all architectures.
const (
	sysOpenTree       = 428
	sysMoveMount      = 429
	sysCloseRange     = 436
	sysMountSetattr   = 442
	sysLandlockCreate = 444
	sysLandlockAdd    = 445
	sysLandlockSelf   = 446

	atCWD           = -100
	atEmptyPath     = 0x1000
	atNoFollow      = 0x100
	atRecursive     = 0x8000
	openTreeClone   = 1
	openTreeCloexec = syscall.O_CLOEXEC
	moveEmptyPath   = 4

	attrReadOnly = 1
	attrNoSUID   = 2
	attrNoDev    = 4

	prSetDumpable     = 4
	prCapBoundingDrop = 24
	prSetNoNewPrivs   = 38
	prCapAmbient      = 47
	prCapAmbientClear = 4

	closeRangeCloexec = 4
	oPath             = 0x200000

	rlimitData     = 2
	rlimitNproc    = 6
	cloneNewCgroup = 0x2000000

	seccompSetFilter = 1
	seccompTSync     = 1
)

func rawSyscall(number, a, b, c uintptr) error {
	if _, _, e := syscall.RawSyscall(number, a, b, c); e != 0 {
		return e
	}
	return nil
}

func prctl(option, value uintptr) error {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, option, value, 0, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// setDumpable sets whether other processes of the same user may inspect this one. It cannot fail
// with these values.
func setDumpable(on bool) {
	value := uintptr(0)
	if on {
		value = 1
	}
	_ = prctl(prSetDumpable, value)
}

// openTree returns a detached copy of the mounts at and below path. It does not follow a link that
// is the last element of the path.
func openTree(path string) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	dir := atCWD
	fd, _, e := syscall.Syscall(sysOpenTree, uintptr(dir), uintptr(unsafe.Pointer(p)),
		openTreeClone|openTreeCloexec|atRecursive|atNoFollow)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// setAttributes sets attributes of the mount at path, or of the mount dir if path is "". If recursive,
// it sets them for all mounts below too.
func setAttributes(dir int, path string, recursive bool, set uint64) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	flags := uintptr(0)
	if path == "" {
		flags |= atEmptyPath
	}
	if recursive {
		flags |= atRecursive
	}
	attr := struct{ set, clr, propagation, userns uint64 }{set: set}
	_, _, e := syscall.Syscall6(sysMountSetattr, uintptr(dir), uintptr(unsafe.Pointer(p)), flags,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return e
	}
	return nil
}

// moveMount shows a detached mount at target. It returns an error if the last element of target is a
// link.
func moveMount(tree int, target string) error {
	empty, err := syscall.BytePtrFromString("")
	if err != nil {
		return err
	}
	p, err := syscall.BytePtrFromString(target)
	if err != nil {
		return err
	}
	dir := atCWD
	_, _, e := syscall.Syscall6(sysMoveMount, uintptr(tree), uintptr(unsafe.Pointer(empty)),
		uintptr(dir), uintptr(unsafe.Pointer(p)), moveEmptyPath, 0)
	if e != 0 {
		return e
	}
	return nil
}

// startLoopback brings up the loopback interface of a new network namespace,
// which many programs bind to.
func startLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{name: [16]byte{'l', 'o'}, flags: syscall.IFF_UP}
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	if e != 0 {
		return e
	}
	return nil
}

func prlimit(resource uint32, set, old *syscall.Rlimit) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(resource),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// capset drops the effective, permitted and inheritable capabilities.
func capset() error {
	header := struct {
		version uint32
		pid     int32
	}{version: 0x20080522}
	var none [2]struct{ effective, permitted, inheritable uint32 }
	return rawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0)
}

// closeOnExec marks all descriptors from first on close-on-exec, so that the
// program does not inherit them.
func closeOnExec(first uint) error {
	return rawSyscall(sysCloseRange, uintptr(first), uintptr(^uint32(0)), closeRangeCloexec)
}

// createRuleset returns a Landlock ruleset that restricts these kinds of access.
func createRuleset(fs, net, scoped uint64) (int, error) {
	attr := struct{ fs, net, scoped uint64 }{fs, net, scoped}
	size := unsafe.Sizeof(attr)
	switch { // older kernels take a shorter struct
	case net == 0 && scoped == 0:
		size = 8
	case scoped == 0:
		size = 16
	}
	fd, _, e := syscall.RawSyscall(sysLandlockCreate, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// addRule allows access below the directory, or to the file, that fd refers to.
// The kernel's struct is packed: 12 bytes.
func addRule(ruleset, fd int, access uint64) error {
	var attr [3]uint32
	*(*[8]byte)(unsafe.Pointer(&attr[0])) = *(*[8]byte)(unsafe.Pointer(&access))
	attr[2] = uint32(fd)
	const pathBeneath = 1
	_, _, e := syscall.RawSyscall6(sysLandlockAdd, uintptr(ruleset), pathBeneath, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func restrictSelf(ruleset int) error { return rawSyscall(sysLandlockSelf, uintptr(ruleset), 0, 0) }

// installFilter installs a seccomp program for all threads. It also fails if a
// thread cannot take the filter: the call then returns that thread's number.
func installFilter(program []byte) error {
	if len(program) == 0 || len(program)%8 != 0 {
		return errFrame
	}
	prog := struct {
		length uint16
		filter *byte
	}{uint16(len(program) / 8), &program[0]}
	tid, _, e := syscall.RawSyscall(sysSeccomp, seccompSetFilter, seccompTSync, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return e
	}
	if tid != 0 {
		return syscall.ESRCH
	}
	return nil
}
