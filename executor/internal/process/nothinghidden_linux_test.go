//go:build amd64 || arm64

package process_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// TestNothingHidden runs ordinary commands. The way in which executors start them must leave no sign
// of hidden files.
func TestNothingHidden(t *testing.T) {
	plain, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	apart, err := sandbox.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = apart.Close() })
	for name, tt := range map[string]struct {
		by    executor.Executor
		above int // number of the executor's processes between this one and the command
	}{"local": {plain, 0}, "sandbox": {apart, 1}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := tt.by.Run(ctx, executor.Command{
					Args: []string{"sh", "-c", "sleep 300 & sleep 300"}, Workspace: dir, Env: []string{"PATH=/usr/bin:/bin"},
				})
				ended <- err
			}()
			defer func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
				pids := family.Descendants(os.Getpid())[1:]
				seen := "not up"
				if len(pids) == tt.above+3 {
					if seen = process.Hidden(pids[tt.above:], dir); seen == "" {
						return
					}
				}
				if time.Now().After(deadline) {
					t.Fatalf("processes %v: %s", pids, seen)
				}
			}
		})
	}
}
