//go:build amd64 || arm64

package remote_test

import (
	"context"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// kinds are the executors around which runners serve.
var kinds = []string{"local", "sandbox"}

func openSandbox(string) (executor.Executor, error) { return sandbox.Open(context.Background()) }
