package reexec

import "syscall"

const (
	sysSetresuid = syscall.SYS_SETRESUID
	sysSetresgid = syscall.SYS_SETRESGID
	sysSeccomp   = 277
)
