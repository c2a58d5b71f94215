//go:build unix

package remote_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/remote"
)

// inProcess is a carrier whose runners are in this process. Others start a container or a process.
type inProcess struct{}

// Capabilities implements remote.Carrier.
func (inProcess) Capabilities() executor.Capabilities { return executor.Capabilities{} }

// Open implements remote.Carrier.
func (inProcess) Open(context.Context, remote.Job) (io.ReadWriteCloser, error) {
	host, runner := net.Pipe()
	go func() { _ = serve(runner) }()
	return host, nil
}

// serve is what the program at the other end does.
func serve(rw io.ReadWriteCloser) error {
	return remote.Serve(context.Background(), rw, func() (executor.Executor, error) { return local.New() })
}

func Example() {
	commands, err := remote.New(inProcess{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = commands.Close() }()
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	result, err := commands.Run(context.Background(), executor.Command{
		Args: []string{"sh", "-c", "echo hello from a runner"}, Env: []string{"PATH=/usr/bin:/bin"}, Workspace: dir,
	})
	fmt.Print(result.Reason, " ", err, "\n", result.Stdout)
	// Output:
	// exit <nil>
	// hello from a runner
}
