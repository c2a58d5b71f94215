package executor

import "iter"

// Isolation names how far a command is kept apart from the host.
type Isolation string

// The kinds of isolation, weakest first.
const (
	IsolationNone       Isolation = "none"
	IsolationLandlock   Isolation = "landlock"
	IsolationNamespaces Isolation = "namespaces"
)

// Capability is whether something is enforced, and what there is to know about
// it: the means, the bounds of it, or why it is missing.
type Capability struct {
	Enforced bool
	Note     string
}

// Capabilities says what an executor enforces on the machine it runs on. A
// field that is not enforced is ignored, never half promised.
type Capabilities struct {
	Isolation Isolation
	// WorkspaceAt and SkillsAt are the paths at which a command finds
	// Command.Workspace and Command.Skills. They are empty when these are their
	// paths on the host.
	WorkspaceAt, SkillsAt string
	// TempAt is a directory that each command has for itself: empty when it begins, and
	// gone with it. It is memory, and empty where there is none.
	TempAt string
	// Unavailable says in a sentence or more why no command runs here at all, and
	// what to change. "" where commands run.
	Unavailable string
	// Readable are directories of the host, beside the system's own, that commands
	// may read at the same paths. What is in their bin is found by its name.
	Readable []string
	// Advice is what to change on this machine for a better isolation, a
	// sentence each.
	Advice []string
	// Filesystem: the command sees and writes no files of the host but its own.
	Filesystem Capability
	// Links: the command follows no symbolic link in Command.Parts.
	Links Capability
	// Network: the command reaches no network.
	Network Capability
	// HostProcesses: the command signals, traces and changes no processes but its
	// own, nor their shared memory and queues.
	HostProcesses Capability
	// Privileges: the command has no privilege and cannot gain any, by programs
	// that set the user, by namespaces or by mounts.
	Privileges Capability
	// SystemCalls: calls that attack or administer the kernel are refused, and
	// sockets of families that namespaces do not hold.
	SystemCalls Capability
	// Memory: Limits.Memory.
	Memory Capability
	// CPU: Limits.CPU.
	CPU Capability
	// Processes: Limits.Processes.
	Processes Capability
	// FileBytes: Limits.FileBytes.
	FileBytes Capability
	// Descriptors: the command inherits no open file but its three streams and
	// Command.Pipes.
	Descriptors Capability
	// KillGroup: the end of the command ends the processes in its group.
	KillGroup Capability
	// KillTree: the end of the command also ends those that left the group, as
	// daemons do.
	KillTree Capability
	// DiesWithHost: the command does not outlive a host process that crashes.
	DiesWithHost Capability
	// Terminal: Terminal.TTY.
	Terminal Capability
	// Pipes: Command.Pipes are passed on.
	Pipes Capability
	// Loopback: the command has a loopback interface of its own, and files that
	// only it sees: Command.Listen and Command.Secrets.
	Loopback Capability
}

// All yields the capabilities with their names, in a fixed order, for printing.
func (c Capabilities) All() iter.Seq2[string, Capability] {
	return func(yield func(string, Capability) bool) {
		for _, entry := range []struct {
			name string
			is   Capability
		}{
			{"filesystem", c.Filesystem},
			{"links", c.Links},
			{"network", c.Network},
			{"host processes", c.HostProcesses},
			{"privileges", c.Privileges},
			{"system calls", c.SystemCalls},
			{"memory", c.Memory},
			{"cpu", c.CPU},
			{"processes", c.Processes},
			{"file bytes", c.FileBytes},
			{"descriptors", c.Descriptors},
			{"kill group", c.KillGroup},
			{"kill tree", c.KillTree},
			{"dies with host", c.DiesWithHost},
			{"terminal", c.Terminal},
			{"pipes", c.Pipes},
			{"loopback", c.Loopback},
		} {
			if !yield(entry.name, entry.is) {
				return
			}
		}
	}
}
