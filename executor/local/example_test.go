//go:build unix

package local_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
)

func ExampleNew() {
	plain, err := local.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	result, err := plain.Run(context.Background(), executor.Command{
		Args:      []string{"sh", "-c", "echo working; sleep 20 & wait"},
		Env:       []string{"PATH=/usr/bin:/bin"},
		Workspace: dir,
		Limits:    executor.Limits{Timeout: 5 * time.Second},
	})
	fmt.Print(result.Reason, " ", result.Signal, " ", err, "\n", result.Stdout)
	// Output:
	// timeout SIGTERM <nil>
	// working
}

func ExampleLocal_Start() {
	plain, err := local.New(local.WithGrace(100 * time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	process, err := plain.Start(ctx, executor.Command{
		Args:      []string{"sh", "-c", "read name; echo hello $name"},
		Env:       []string{"PATH=/usr/bin:/bin"},
		Workspace: dir,
	}, executor.Terminal{Output: os.Stdout})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer process.Kill()
	if _, err := io.WriteString(process, "Ada\n"); err != nil {
		fmt.Println(err)
	}
	result, err := process.Wait(ctx)
	fmt.Println(result.Reason, result.ExitCode, err)
	// Output:
	// hello Ada
	// exit 0 <nil>
}
