package executor

import (
	"cmp"
	"iter"
)

// Isolation names how a command is isolated from the host. The zero value is none.
type Isolation string

// These are the kinds of isolation, weakest first.
const (
	IsolationLandlock   Isolation = "landlock"
	IsolationContainer  Isolation = "container"
	IsolationNamespaces Isolation = "namespaces"
)

// String returns the name, and "none" for the zero value.
func (i Isolation) String() string { return cmp.Or(string(i), none) }

// IsNone reports whether i says that nothing isolates a command: "" or "none".
func (i Isolation) IsNone() bool { return i == "" || i == none }

// none is the name of no isolation.
const none = "none"

// Capability says whether a guarantee is enforced. Note says by what means, within which
// bounds, or why it is missing.
type Capability struct {
	Enforced bool
	Note     string
}

// Capabilities says what an executor enforces on the machine it runs on. An executor ignores a
// limit that it does not enforce.
type Capabilities struct {
	// Isolation is the kind of isolation that every command has.
	Isolation Isolation
	// WorkspaceAt and SkillsAt are the paths at which a command finds
	// Command.Workspace and Command.Skills. They are empty when these are their
	// paths on the host.
	WorkspaceAt, SkillsAt string
	// TempAt is the path of a directory in memory that each command has for itself. The
	// directory is empty when the command begins, and removed when it ends. The path is "" if
	// there is no such directory.
	TempAt string
	// Unavailable says in a sentence or more why no command runs here at all, and what to
	// change. It is "" if commands run.
	Unavailable string
	// Readable are directories of the host, beside the system's own, that commands may read at
	// the same paths. A program in the bin directory of one is found by its name.
	Readable []string
	// Advice says what to change on this machine for a better isolation, a sentence each.
	Advice []string
	// Filesystem says that the command sees and writes no files of the host but its own.
	Filesystem Capability
	// Links says that the command follows no symbolic link in Command.Parts.
	Links Capability
	// Network says that the command reaches no network.
	Network Capability
	// HostProcesses says that the command signals, traces and changes only its own processes,
	// their shared memory and their queues.
	HostProcesses Capability
	// Privileges says that the command has no privilege and cannot gain any, by programs that
	// set the user, by namespaces or by mounts.
	Privileges Capability
	// SystemCalls says that calls which attack or administer the kernel fail, and so do sockets
	// of families that namespaces do not separate.
	SystemCalls Capability
	// Memory says that Limits.Memory is enforced.
	Memory Capability
	// CPU says that Limits.CPU is enforced.
	CPU Capability
	// Processes says that Limits.Processes is enforced.
	Processes Capability
	// FileBytes says that Limits.FileBytes is enforced.
	FileBytes Capability
	// Descriptors says that the command inherits no open file but its three streams and
	// Command.Pipes.
	Descriptors Capability
	// KillGroup says that the end of the command ends the processes in its group.
	KillGroup Capability
	// KillTree says that the end of the command also ends processes that left the group, as
	// daemons do.
	KillTree Capability
	// DiesWithHost says that the command does not outlive a host process that crashes.
	DiesWithHost Capability
	// Terminal says that Terminal.TTY works.
	Terminal Capability
	// Pipes says that Command.Pipes are passed on.
	Pipes Capability
	// Loopback says that the command has a loopback interface of its own, for Command.Listen,
	// and files that only it sees, for Command.Secrets.
	Loopback Capability
}

// All yields the capabilities with their names, in a fixed order, for printing.
func (c Capabilities) All() iter.Seq2[string, Capability] {
	return func(yield func(string, Capability) bool) {
		for _, entry := range []struct {
			name       string
			capability Capability
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
			if !yield(entry.name, entry.capability) {
				return
			}
		}
	}
}
