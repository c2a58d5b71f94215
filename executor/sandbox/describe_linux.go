//go:build amd64 || arm64

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/process"
)

// describe sets the capabilities: what the sandbox enforces.
func (s *Sandbox) describe() {
	c := &s.caps
	c.Readable = s.readable
	c.CPU = executor.Capability{Enforced: true, Note: "RLIMIT_CPU: each process by itself, in whole seconds"}
	c.Privileges = executor.Capability{Enforced: true, Note: "no capabilities, no_new_privs, and seccomp refuses namespaces and mounts"}
	c.SystemCalls = executor.Capability{Enforced: true, Note: "a seccomp filter that allows what it knows"}
	c.FileBytes = executor.Capability{Enforced: true, Note: "RLIMIT_FSIZE: each file, not all together"}
	c.Descriptors = executor.Capability{Enforced: true, Note: "all but the streams and Command.Pipes are closed"}
	c.Pipes = executor.Capability{Enforced: true, Note: "descriptors 3 and up"}
	c.KillGroup = executor.Capability{Enforced: true, Note: "session and process group"}
	c.Terminal = process.TerminalCapability()
	s.describeMemory()
	if c.Isolation == executor.IsolationLandlock {
		s.describeLandlockOnly()
		return
	}
	c.WorkspaceAt, c.SkillsAt, c.TempAt = workspaceAt, skillsAt, tempAt
	landlock := "Landlock is missing in this kernel"
	if s.abi > 0 {
		landlock = fmt.Sprintf("Landlock (ABI %d) behind it", s.abi)
	}
	c.Filesystem = executor.Capability{Enforced: true, Note: "a read-only root of its own with the system's programs; " + landlock}
	c.Links = executor.Capability{Enforced: kernelAtLeast(5, 14), Note: "mounts of Command.Parts that follow no links, since Linux 5.14"}
	c.Network = executor.Capability{Enforced: true, Note: "a network namespace with nothing but a loopback interface"}
	c.HostProcesses = executor.Capability{Enforced: true, Note: "a process namespace"}
	c.Loopback = executor.Capability{Enforced: true, Note: "a loopback interface and a root of its own"}
	c.Processes = executor.Capability{Enforced: true, Note: "RLIMIT_NPROC, counted in a user namespace"}
	c.KillTree = executor.Capability{Enforced: true, Note: "the end of the first process ends its namespace"}
	c.DiesWithHost = executor.Capability{Enforced: true, Note: "the first process dies with the host, and its namespace with it"}
}

// kernelAtLeast reports whether the kernel has this version or a later one.
func kernelAtLeast(major, minor int) bool {
	var name unix.Utsname
	var has, and int
	if err := unix.Uname(&name); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &has, &and); err != nil {
		return false
	}
	return has > major || has == major && and >= minor
}

func (s *Sandbox) describeMemory() {
	if s.boundsMemory() {
		s.caps.Memory = executor.Capability{Enforced: true, Note: "a memory cgroup: all processes together"}
		return
	}
	s.caps.Memory = executor.Capability{Enforced: true, Note: "RLIMIT_DATA for each process, and all together are watched"}
}

// describeLandlockOnly does so for Landlock and seccomp without namespaces.
func (s *Sandbox) describeLandlockOnly() {
	c := &s.caps
	c.WorkspaceAt, c.SkillsAt, c.TempAt = "", "", ""
	c.Filesystem = executor.Capability{Enforced: true, Note: fmt.Sprintf("Landlock (ABI %d): paths of the host that no rule allows can be named, and their owner and mode changed where they are the user's own, but not opened", s.abi)}
	c.Links = executor.Capability{Note: "it takes namespaces"}
	c.Network = executor.Capability{Enforced: true, Note: "seccomp: there are no sockets"}
	c.HostProcesses = executor.Capability{Enforced: s.abi >= scopedABI, Note: "Landlock keeps signals and tracing inside; the names of the host's processes can be read in /proc"}
	if s.abi < scopedABI {
		c.HostProcesses.Note = fmt.Sprintf("Landlock ABI %d does not keep signals inside; it takes %d", s.abi, scopedABI)
	}
	c.Processes = executor.Capability{Note: "RLIMIT_NPROC would count all processes of the user"}
	c.Loopback = executor.Capability{Note: "it takes namespaces"}
	c.KillTree = family.Capability()
	c.DiesWithHost = executor.Capability{Note: "the program dies with the host, but not what it started outside its group"}
}
