//go:build amd64 || arm64

package executor

import "fmt"

// describe writes down what the sandbox enforces.
func (s *Sandbox) describe() {
	c := &s.caps
	c.CPU = Capability{true, "RLIMIT_CPU: each process by itself, in whole seconds"}
	c.Privileges = Capability{true, "no capabilities, no_new_privs, and seccomp refuses namespaces and mounts"}
	c.SystemCalls = Capability{true, "a seccomp filter that allows what it knows"}
	c.FileBytes = Capability{true, "RLIMIT_FSIZE: each file, not all together"}
	c.Descriptors = Capability{true, "all but the streams are closed"}
	c.KillGroup = Capability{true, "session and process group"}
	c.Terminal = terminalCapability()
	s.describeMemory()
	if c.Isolation == IsolationLandlock {
		s.describeLite()
		return
	}
	c.WorkspaceAt = WorkspaceAt
	landlock := "Landlock is missing in this kernel"
	if s.abi > 0 {
		landlock = fmt.Sprintf("Landlock (ABI %d) behind it", s.abi)
	}
	c.Filesystem = Capability{true, "a read-only root of its own with the system's programs; " + landlock}
	c.Network = Capability{true, "a network namespace with nothing but a loopback interface"}
	c.HostProcesses = Capability{true, "a process namespace"}
	c.Processes = Capability{true, "RLIMIT_NPROC, counted in a user namespace"}
	c.KillTree = Capability{true, "the end of the first process ends its namespace"}
	c.DiesWithHost = Capability{true, "the first process dies with the host, and its namespace with it"}
}

func (s *Sandbox) describeMemory() {
	if s.boundsMemory() {
		s.caps.Memory = Capability{true, "a memory cgroup: all processes together"}
		return
	}
	s.caps.Memory = Capability{true, "RLIMIT_DATA for each process, and all together are watched"}
}

// describeLite is about Landlock and seccomp without namespaces.
func (s *Sandbox) describeLite() {
	c := &s.caps
	c.WorkspaceAt = ""
	c.Filesystem = Capability{true, fmt.Sprintf("Landlock (ABI %d): paths of the host that no rule allows can be named, and their owner and mode changed where they are the user's own, but not opened", s.abi)}
	c.Network = Capability{true, "seccomp: there are no sockets"}
	c.HostProcesses = Capability{s.abi >= scopedABI, "Landlock keeps signals and tracing inside; the names of the host's processes can be read in /proc"}
	if s.abi < scopedABI {
		c.HostProcesses.Note = fmt.Sprintf("Landlock ABI %d does not keep signals inside; it takes %d", s.abi, scopedABI)
	}
	c.Processes = Capability{Note: "RLIMIT_NPROC would count all processes of the user"}
	c.KillTree = treeCapability()
	c.DiesWithHost = Capability{Note: "the program dies with the host, but not what it started outside its group"}
}
