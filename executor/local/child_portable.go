//go:build !linux

package local

import (
	"os"

	"github.com/satchel-go/satchel/executor/internal/process"
)

// limited says that no limits are set here.
const limited = false

// child is a started program, a plain child of the host.
type child struct {
	proc  *os.Process
	state *os.ProcessState
	err   error
}

func mayTrace() bool { return false }

// AwaitExit reaps the program: the systems other than Linux share no way to
// wait without doing so. If its group is empty then, the number of the group can
// be given to another from then on.
func (c *child) AwaitExit() { c.state, c.err = c.proc.Wait() }

// Reap returns how the program ended.
func (c *child) Reap() (process.Ending, error) { return c.ending(c.state), c.err }

// PIDs returns none: only Linux tells what belongs to a program.
func (c *child) PIDs() []int { return nil }
