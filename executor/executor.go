package executor

import (
	"context"
	"errors"
	"io"
)

var (
	// ErrCommand is wrapped if a Command is invalid: no arguments, a NUL byte, a directory
	// that is missing or outside the workspace, a negative limit.
	ErrCommand = errors.New("invalid command")
	// ErrSetup is wrapped if the host could not prepare, start or bound the command. The
	// command did not run, or was ended at once.
	ErrSetup = errors.New("cannot set up command")
	// ErrLost is wrapped if the machine or container that ran the command was lost. The
	// command may have finished, and it is not started again.
	ErrLost = errors.New("the machine that ran this command was lost")
)

// LostText is what a model reads in place of the errors of a command whose machine was lost.
const LostText = "the machine that ran this command was lost; it may have finished: look at its files before you run it again"

// Executor runs commands. All methods may be called concurrently.
//
// When Run returns, or a Process is done, nothing that the command started is still running.
// Capabilities().KillTree says how far that guarantee goes.
type Executor interface {
	// Run runs the command and returns when it has ended. The end of ctx ends
	// the command with ReasonCancelled. A command that fails, cannot be found or
	// is killed is a Result without error. With an error the Result says as much as
	// is known, and has ReasonSetup unless the command did run. The error wraps
	// ErrCommand or ErrSetup, unless a process of the command survived being killed.
	// It wraps ErrLost if the Result has ReasonLost. Stderr then says so for a model.
	Run(ctx context.Context, cmd Command) (Result, error)

	// Start starts the command and leaves it running. ctx bounds the start only:
	// the process lives until it exits, is killed or meets a limit of cmd. The
	// caller owns the Process and must Kill it or Wait for its end. cmd.Stdin
	// must be nil: input goes through Process.Write. A command that cannot be
	// found, or is lost as it starts, is a Process that has already ended.
	Start(ctx context.Context, cmd Command, term Terminal) (Process, error)

	// Capabilities says what this executor enforces on this machine.
	Capabilities() Capabilities
}

// Terminal describes the input and output of an interactive process.
type Terminal struct {
	// TTY asks for a pseudo terminal instead of pipes. If the executor has none, the error of
	// Start wraps errors.ErrUnsupported.
	TTY bool
	// Rows and Cols are the first size of the terminal, for TTY alone; 0 means 24 and 80.
	Rows, Cols uint16
	// Output receives stdout and stderr as one stream, in the order in which the process wrote
	// them, with or without TTY. Result has both in Stdout. The executor calls Write from one
	// goroutine at a time, and Write must not keep the bytes. The process and Wait wait for
	// Write, so it must not block for long. If Output is nil, the output is dropped.
	Output io.Writer
}

// Process is a command that Start left running. All methods may be called
// concurrently.
type Process interface {
	// Write writes to the process's input. It waits while the process does not
	// read, until the process ends; then the error wraps io.ErrClosedPipe.
	io.Writer
	// CloseInput ends the process's input. A second call does nothing. A terminal has no end of
	// input, so CloseInput types ^D there, twice if the last line is unfinished. A program that
	// reads lines takes that for the end.
	CloseInput() error
	// Resize changes the size of the terminal. The error wraps errors.ErrUnsupported if the
	// process has none.
	Resize(rows, cols uint16) error
	// Kill ends the process and everything that it started, with ReasonCancelled, within a
	// second. It does not wait for that. It does nothing if the process has ended.
	Kill()
	// Done is closed when the process has ended and Wait does not block.
	Done() <-chan struct{}
	// Wait returns how the process ended, as Run would. The end of ctx ends only
	// the waiting, with the error of ctx; Wait may be called again.
	Wait(ctx context.Context) (Result, error)
}

// Releaser is an Executor that keeps something for a workspace between its commands, such as a
// container.
type Releaser interface {
	// Release ends what the executor keeps for a workspace, and commands that still run in it.
	// It returns when all of that has ended. The next command in the workspace starts again.
	Release(workspace string) error
}

// Finder is an Executor whose commands find programs elsewhere than on this machine.
type Finder interface {
	// Find returns the absolute path of the program that a command with this PATH would run as
	// name. The error wraps fs.ErrNotExist if there is none.
	Find(ctx context.Context, name, path string) (string, error)
}

// Preparer is an Executor that can prepare the first command of a workspace.
type Preparer interface {
	// Prepare starts what the commands of a workspace need, such as a container, for commands with
	// these limits. It is kept until the first command has ended, or until Release.
	Prepare(ctx context.Context, workspace string, limits Limits) error
}
