//go:build unix

package deps

import (
	"os/exec"
	"syscall"
)

// inGroup makes a program the first of a group of processes, which ends as one.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
