package local

import (
	"fmt"
	"os"

	"github.com/satchel-go/satchel/executor/internal/process"
)

// String implements process.Child.
func (c *child) String() string { return fmt.Sprintf("process %d", c.proc.Pid) }

// ending says how a process of the host ended.
func (c *child) ending(state *os.ProcessState) process.Ending {
	if state == nil {
		return process.Ending{Code: -1}
	}
	code, signal := process.ExitStatus(state)
	return process.Ending{Code: code, Signal: signal, CPU: state.UserTime() + state.SystemTime(), Limited: limited}
}

// BoundsMemory implements process.Child: a limit holds for each process by itself.
func (c *child) BoundsMemory() bool { return false }
