package docker

import (
	"encoding/json"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// callsOfSandbox are the system calls by which the runner builds a sandbox with namespaces, and
// which engines allow to root alone. The kernel checks in which namespace the caller has the right.
// Commands have the sandbox's own filter.
var callsOfSandbox = []string{
	"clone", "mount", "mount_setattr", "move_mount", "open_tree", "pivot_root", "setns", "sethostname", "umount2", "unshare",
}

// namespacesProfile returns the seccomp profile of the namespaces tier: the engine's own and
// callsOfSandbox.
func namespacesProfile() (string, error) {
	profile := seccomp.DefaultProfile()
	profile.Syscalls = append(profile.Syscalls, &seccomp.Syscall{
		LinuxSyscall: specs.LinuxSyscall{Names: callsOfSandbox, Action: specs.ActAllow},
	})
	text, err := json.Marshal(profile)
	return string(text), err
}
