package executor

import (
	"fmt"
	"os"
)

// String implements child.
func (c *process) String() string { return fmt.Sprintf("process %d", c.proc.Pid) }

// ending says how a process of the host ended.
func (c *process) ending(state *os.ProcessState) ending {
	if state == nil {
		return ending{code: -1}
	}
	code, signal := exitStatus(state)
	return ending{code: code, signal: signal, cpu: state.UserTime() + state.SystemTime(), limited: c.limited}
}

// boundsMemory implements child: a limit holds for each process by itself.
func (c *process) boundsMemory() bool { return false }
