//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

func ExampleOpen() {
	s, err := sandbox.Open(context.Background(), sandbox.WithLeast(executor.IsolationNamespaces), sandbox.WithPrepared(1))
	if errors.Is(err, sandbox.ErrUnavailable) {
		fmt.Println("this machine offers less:", err)
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	result, err := s.Run(context.Background(), executor.Command{
		Args:      []string{"sh", "-c", "pwd; ls -A; cat /etc/shadow"},
		Env:       []string{"PATH=/usr/bin:/bin"},
		Workspace: dir,
	})
	fmt.Printf("%s %d %v\n%s%s", result.Reason, result.ExitCode, err, result.Stdout, result.Stderr)
	// Output:
	// exit 1 <nil>
	// /workspace
	// cat: /etc/shadow: No such file or directory
}
