//go:build unix && !(linux && (amd64 || arm64))

package remote_test

import (
	"errors"

	"github.com/satchel-go/satchel/executor"
)

// kinds are the executors around which runners serve.
var kinds = []string{"local"}

func openSandbox(string) (executor.Executor, error) { return nil, errors.ErrUnsupported }
