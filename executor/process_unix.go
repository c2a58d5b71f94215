//go:build unix && !linux

package executor

import (
	"os"
	"syscall"
)

// startProcess starts the program. There is no call here that sets the limits of
// another process, and changing those of the host process would be worse than
// having none.
func (l *Local) startProcess(program string, cmd Command, files []*os.File, tty bool) (*process, error) {
	proc, err := os.StartProcess(program, cmd.Args, &os.ProcAttr{
		Dir: cmd.Dir, Env: cmd.environment(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: tty},
	})
	if err != nil {
		return nil, err
	}
	return &process{proc: proc}, nil
}

func (c *process) terminate() { _ = syscall.Kill(-c.proc.Pid, syscall.SIGTERM) }

func (c *process) killAll() error {
	_ = syscall.Kill(-c.proc.Pid, syscall.SIGKILL)
	return nil
}

func platformCapabilities(bool) Capabilities {
	none := Capability{Note: "limits can be set on Linux only"}
	return Capabilities{
		Memory: none, CPU: none, FileBytes: none,
		Descriptors:  Capability{true, "all but the streams are closed"},
		KillGroup:    Capability{true, "session and process group"},
		KillTree:     Capability{Note: "processes that leave the group are not found"},
		DiesWithHost: Capability{Note: "Linux only"},
	}
}
