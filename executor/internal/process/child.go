// Package process runs one child from its start to its end, for the executors of
// this machine. It moves input and output, keeps time, watches what no kernel
// limit bounds, and says in an executor.Result why the command ended. Executors
// decide how a child is started and killed.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// CheckGrace returns an error if a grace is out of bounds.
func CheckGrace(d time.Duration) error {
	if d < 0 || d > MaxGrace {
		return fmt.Errorf("%w: grace %v is not between 0 and %v", ErrOption, d, MaxGrace)
	}
	return nil
}

// ErrOption is wrapped by the constructors of executors if an option is invalid.
var ErrOption = errors.New("invalid option")

// Child is a started command as its executor knows it: a process of the host, or
// the first process of a sandbox.
type Child interface {
	// AwaitExit returns when the program has exited. Until Reap the kernel does not assign the
	// numbers of the program's process, group and session to others.
	AwaitExit()
	// Terminate asks the program's process group to end.
	Terminate()
	// KillAll ends the program and everything that it started.
	KillAll() error
	// Reap returns how the program ended. The caller calls it after KillAll.
	Reap() (Ending, error)
	// PIDs returns the processes of the command that can be found now.
	PIDs() []int
	// BoundsMemory reports whether the kernel bounds the memory of all processes
	// together.
	BoundsMemory() bool
	// String names the child for errors.
	String() string
}

// Ending is how a program ended.
type Ending struct {
	Code    int
	Signal  string
	CPU     time.Duration // time of the program and the processes that it waited for
	Limited bool          // limits were in force
	OOM     bool          // the kernel killed a process because of its memory
	Policy  bool          // the sandbox's system call filter killed it
}

// StartFunc starts a child with the three streams. The calling goroutine stays locked to its thread
// until the program has exited. If the fault is the command's and not the host's, the error is a
// Refusal.
type StartFunc func(ctx context.Context, cmd executor.Command, streams [3]*os.File, tty bool) (Child, error)

// Refusal is the error for a command whose program cannot be started, with the result of the
// command.
type Refusal struct{ executor.Result }

// Error returns the reason.
func (r Refusal) Error() string { return r.Stderr.String() }

// NeverRan returns the result of a command whose program was not started.
func NeverRan(code int, why string) executor.Result {
	r := executor.Result{ExitCode: code, Reason: executor.ReasonSetup}
	if why != "" {
		r.Stderr.Head = []byte(why + "\n")
	}
	return r
}
