//go:build !linux

package executor

import "os"

// process is a started program, a plain child of the host.
type process struct {
	proc    *os.Process
	limited bool // always false: no limits are set here
	state   *os.ProcessState
	err     error
}

func mayTrace() bool { return false }

// awaitExit reaps the program: the systems other than Linux share no way to
// wait without doing so. When its group is empty, the number of the group can
// pass on to another from then on.
func (c *process) awaitExit() { c.state, c.err = c.proc.Wait() }

// reap returns how the program ended.
func (c *process) reap() (ending, error) { return c.ending(c.state), c.err }
