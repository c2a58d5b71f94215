//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"fmt"
	"runtime"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
)

// platform is empty: this system has no sandbox.
type platform struct{}

// open returns ErrUnavailable.
func (s *Sandbox) open(context.Context) error {
	return fmt.Errorf("%w on %s/%s: it needs Linux on amd64 or arm64; run the host in a Linux machine or container, or choose executor/local, which does not isolate",
		ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}

// Capabilities implements executor.Executor.
func (s *Sandbox) Capabilities() executor.Capabilities {
	return executor.Capabilities{Unavailable: ErrUnavailable.Error()}
}

// Close implements io.Closer.
func (s *Sandbox) Close() error { return nil }

// Run implements executor.Executor. It returns ErrUnavailable.
func (s *Sandbox) Run(context.Context, executor.Command) (executor.Result, error) {
	return process.NeverRan(-1, ""), ErrUnavailable
}

// Start implements executor.Executor. It returns ErrUnavailable.
func (s *Sandbox) Start(context.Context, executor.Command, executor.Terminal) (executor.Process, error) {
	return nil, ErrUnavailable
}
