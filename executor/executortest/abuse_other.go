//go:build !linux || !(amd64 || arm64)

package executortest

import (
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// abuse knows the attacks of Linux only.
func abuse(*testing.T, *lender, func(*testing.T) executor.Executor) {}
