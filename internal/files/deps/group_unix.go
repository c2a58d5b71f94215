//go:build unix

package deps

import (
	"os/exec"
	"syscall"
)

// setGroup starts a program in a new process group, so that the end of its context kills the
// whole group.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
