//go:build !linux || !(amd64 || arm64)

package executor

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// platform is empty: there is no sandbox here.
type platform struct{}

func (s *Sandbox) open() error {
	return fmt.Errorf("%w on %s/%s: it needs Linux on amd64 or arm64; run the host in a Linux machine or container, or choose executor.Local, which does not isolate",
		ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}

// Capabilities implements Executor: nothing is enforced.
func (s *Sandbox) Capabilities() Capabilities { return Capabilities{Isolation: IsolationNone} }

// Close implements io.Closer.
func (s *Sandbox) Close() error { return nil }

func (s *Sandbox) spawn(context.Context, Command, [3]*os.File, bool) (child, error) {
	return nil, ErrUnavailable
}
