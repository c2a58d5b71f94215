package reexec

import (
	"os"
	"syscall"
)

// ordinary starts a process that may not change the machine's name, even where
// the tests run as root.
func ordinary() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
