package local

import (
	"fmt"
	"os"

	"github.com/satchel-go/satchel/executor/internal/process"
)

// String implements process.Child.
func (c *child) String() string { return fmt.Sprintf("process %d", c.proc.Pid) }

// ending returns how the program ended. A nil state means that this is unknown.
func (c *child) ending(state *os.ProcessState) process.Ending {
	if state == nil {
		return process.Ending{Code: -1}
	}
	code, signal := process.ExitStatus(state)
	return process.Ending{Code: code, Signal: signal, CPU: state.UserTime() + state.SystemTime(), Limited: setsLimits}
}

// BoundsMemory implements process.Child. It returns false: the limit holds for each process, not
// for all together.
func (c *child) BoundsMemory() bool { return false }
