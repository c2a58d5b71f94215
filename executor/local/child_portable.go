//go:build !linux

package local

import (
	"os"

	"github.com/satchel-go/satchel/executor/internal/process"
)

// setsLimits says that startChild sets no limits on this system.
const setsLimits = false

// child is a program that was started as a plain child process.
type child struct {
	proc  *os.Process
	state *os.ProcessState
	err   error
}

func mayTrace() bool { return false }

// AwaitExit waits for the program and reaps it: systems other than Linux share no way to wait
// without reaping. After that the kernel may reuse the number of the program's group if it is empty.
func (c *child) AwaitExit() { c.state, c.err = c.proc.Wait() }

// Reap returns how the program ended.
func (c *child) Reap() (process.Ending, error) { return c.ending(c.state), c.err }

// PIDs implements process.Child. It returns none: only Linux shows which processes belong to a
// program.
func (c *child) PIDs() []int { return nil }
