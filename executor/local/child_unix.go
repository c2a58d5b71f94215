//go:build unix && !linux

package local

import (
	"os"
	"syscall"

	"github.com/satchel-go/satchel/executor"
)

// startChild starts the program without limits. This system has no call that sets the limits of
// another process, and the limits of the host process must not change.
func (l *Local) startChild(program string, cmd executor.Command, files []*os.File, tty bool) (*child, error) {
	proc, err := os.StartProcess(program, cmd.Args, &os.ProcAttr{
		Dir: cmd.HostPath(cmd.Dir), Env: cmd.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: tty},
	})
	if err != nil {
		return nil, err
	}
	return &child{proc: proc}, nil
}

// Terminate implements process.Child.
func (c *child) Terminate() { _ = syscall.Kill(-c.proc.Pid, syscall.SIGTERM) }

// KillAll implements process.Child.
func (c *child) KillAll() error {
	_ = syscall.Kill(-c.proc.Pid, syscall.SIGKILL)
	return nil
}

func platformCapabilities(bool) executor.Capabilities {
	none := executor.Capability{Note: "limits can be set on Linux only"}
	return executor.Capabilities{
		Memory: none, CPU: none, FileBytes: none,
		Descriptors:  executor.Capability{Enforced: true, Note: "all but the streams are closed"},
		Pipes:        executor.Capability{Enforced: true, Note: "descriptors 3 and up"},
		KillGroup:    executor.Capability{Enforced: true, Note: "session and process group"},
		KillTree:     executor.Capability{Note: "processes that leave the group are not found"},
		DiesWithHost: executor.Capability{Note: "Linux only"},
	}
}
