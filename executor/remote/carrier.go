package remote

import (
	"context"
	"io"

	"github.com/satchel-go/satchel/executor"
)

// Carrier starts runners elsewhere and carries the bytes between them and this process.
type Carrier interface {
	// Open starts a runner for a job and returns the connection to it. Closing the connection
	// ends the runner and everything that it started. The error wraps executor.ErrSetup if no
	// runner could be started.
	Open(ctx context.Context, j Job) (io.ReadWriteCloser, error)
	// Capabilities returns an upper bound of what the commands of a runner are held to. What
	// the runner says of itself may lower it.
	Capabilities() executor.Capabilities
}

// Job is what one runner is started for.
type Job struct {
	// Workspace is the absolute path, on this machine, of the directory whose commands the
	// runner runs. It is empty for a runner that only looks for programs.
	Workspace string
	// Limits are those of the first command.
	Limits executor.Limits
	// Verify are the directories that the runner must see as this process sees them.
	Verify []Identity
}

// Identity names a directory by its device and inode.
type Identity struct {
	// At is the path where the runner finds the directory.
	At string
	// Dev and Ino are the numbers that this process sees.
	Dev, Ino uint64
}
