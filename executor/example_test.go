//go:build unix

package executor_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/satchel-go/satchel/executor"
)

func ExampleNewLocal() {
	local, err := executor.NewLocal()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := local.Run(context.Background(), executor.Command{
		Args:   []string{"sh", "-c", "echo working; sleep 20 & wait"},
		Dir:    os.TempDir(),
		Env:    []string{"PATH=/usr/bin:/bin"},
		Limits: executor.Limits{Timeout: 2 * time.Second},
	})
	fmt.Print(result.Reason, " ", result.Signal, " ", err, "\n", result.Stdout)
	// Output:
	// timeout SIGTERM <nil>
	// working
}

func ExampleLocal_Start() {
	local, err := executor.NewLocal(executor.WithGrace(100 * time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	process, err := local.Start(ctx, executor.Command{
		Args: []string{"sh", "-c", "read name; echo hello $name"},
		Dir:  os.TempDir(),
		Env:  []string{"PATH=/usr/bin:/bin"},
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
