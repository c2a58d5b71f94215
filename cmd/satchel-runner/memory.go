package main

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// killFiles are the files in which the kernel counts what it killed for the memory of the container,
// by the version of control groups.
var killFiles = []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}

// kills returns how many processes the kernel has killed for the memory of the container.
func kills() int {
	for _, file := range killFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		words := strings.Fields(string(text))
		for i := 0; i+1 < len(words); i += 2 {
			if words[i] == "oom_kill" {
				n, _ := strconv.Atoi(words[i+1])
				return n
			}
		}
	}
	return 0
}

// inContainer is a sandbox whose commands the kernel may kill for the memory of the container. The
// sandbox watches its own limit only.
type inContainer struct{ *sandbox.Sandbox }

// Capabilities implements executor.Executor. Advice for a machine is none for a container.
func (c inContainer) Capabilities() executor.Capabilities {
	caps := c.Sandbox.Capabilities()
	caps.Advice = nil
	return caps
}

// Run implements executor.Executor.
func (c inContainer) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	before := kills()
	result, err := c.Sandbox.Run(ctx, cmd)
	return explained(result, before), err
}

// Start implements executor.Executor.
func (c inContainer) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	before := kills()
	p, err := c.Sandbox.Start(ctx, cmd, term)
	if err != nil {
		return nil, err
	}
	return killable{p, before}, nil
}

// killable is a process of an inContainer. Package remote waits for each.
type killable struct {
	executor.Process
	before int
}

// Wait implements executor.Process.
func (k killable) Wait(ctx context.Context) (executor.Result, error) {
	result, err := k.Process.Wait(ctx)
	return explained(result, k.before), err
}

// explained returns the result with ReasonOOM if the kernel has killed a process since before, and the
// program has ended as one that it kills. A shell ends with the code of what was killed in it.
func explained(r executor.Result, before int) executor.Result {
	const killed = 128 + 9
	ended := r.Reason == executor.ReasonSignal || r.Reason == executor.ReasonExit
	if ended && r.ExitCode == killed && kills() > before {
		r.Reason = executor.ReasonOOM
	}
	return r
}
