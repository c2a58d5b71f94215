//go:build linux

package docker_test

import (
	"testing"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
)

func TestZZTiny(t *testing.T) {
	for name, opt := range map[string]docker.Option{"namespaces": docker.WithLeast(executor.IsolationNamespaces), "landlock": docker.WithoutNamespaces()} {
		t.Run(name, func(t *testing.T) {
			x, dir := shared(t, opt, docker.WithMemory(256<<20)), t.TempDir()
			beside, err := begin(t.Context(), x, script(dir, "echo started; until [ -e over ]; do sleep 0.05; done; exit 3"))
			fmt.Println(name, err)
			for range 3 {
			cmd := script(dir, "")
			cmd.Args = []string{"python3", "-S", "-c", `
import os, signal, time
try: open('/proc/self/oom_score_adj', 'w').write('0')
except OSError as e: print(e, flush=True)
for n in range(150):
    if os.fork() == 0:
        b = bytearray(4 << 20)
        for i in range(0, len(b), 4096): b[i] = 1
        signal.pause()
for n in range(150):
    if os.wait()[1]: os._exit(137)
`}
			start := time.Now()
			result, err := x.Run(t.Context(), cmd)
			fmt.Println(name, result.Reason, result.ExitCode, err, result.Stdout, result.Stderr, time.Since(start))
			}
			result, err := x.Run(t.Context(), script(dir, "touch over"))
			fmt.Println(result.Reason, err)
			if beside != nil { r, err := beside.Wait(t.Context()); fmt.Println("beside", r.Reason, r.ExitCode, err) }
		})
	}
}

func TestZZKill(t *testing.T) {
	x, dir := shared(t, docker.WithoutNamespaces()), t.TempDir()
	beside, err := begin(t.Context(), x, script(dir, "echo started; until [ -e over ]; do sleep 0.05; done; exit 3"))
	fmt.Println(err)
	for _, s := range []string{"kill -KILL -1; sleep 1; exit 6", "kill -KILL $PPID; sleep 5; exit 6", "setsid -f sleep 100; kill -STOP $PPID; exit 5", "setsid -f sleep 100; kill -TERM $PPID; sleep 1; exit 5"} {
		start := time.Now()
		cmd := script(dir, s)
		cmd.Limits.Timeout = 3 * time.Second
		result, err := x.Run(t.Context(), cmd)
		fmt.Println(s, result.Reason, result.Signal, result.ExitCode, err, result.Stdout, result.Stderr, time.Since(start))
	}
	fmt.Println(output(t, x, script(dir, "touch over; for p in /proc/[0-9]*; do cat $p/cmdline | tr '\\0' ' '; echo; done")))
	r, err := beside.Wait(t.Context()); fmt.Println("beside", r.Reason, r.ExitCode, err)
}
