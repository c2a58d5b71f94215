package executortest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

func leaveNothing(t *testing.T, b bench) {
	b.run(b.sh("exit 0")) // some files are opened by the first run and stay open
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	var all sync.WaitGroup
	atOnce := make(chan struct{}, sideBySide(b))
	for i := range 50 {
		cmd := b.sh([]string{
			"exit 0",
			"sleep 300 & echo out",
			"sleep 300 & sleep 300 & wait",
			"yes",
			"no-such-program",
		}[i%5])
		cmd.Limits.Timeout, cmd.Limits.OutputTotal = 500*time.Millisecond, 1<<20
		if loopback(b) {
			cmd.Secrets = map[string]string{"X": "value"}
			cmd.Listen = map[uint16]func(net.Listener){3128: func(l net.Listener) { _, _ = l.Accept() }}
		}
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			if _, err := b.exec.Run(t.Context(), cmd); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		left := ""
		if n := runtime.NumGoroutine(); n > goroutines {
			left += fmt.Sprintf(" %d goroutines,", n-goroutines)
		}
		if n := openFiles(t); n > files {
			left += fmt.Sprintf(" %d descriptors,", n-files)
		}
		if hasChildren() {
			left += " child processes,"
		}
		if left == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left behind:%s", left)
		}
	}
}

// sideBySide returns how many commands of one workspace surely have room for their processes. Without
// namespaces all commands in a container share its limit.
func sideBySide(b bench) int {
	if b.exec.Capabilities().Isolation == executor.IsolationContainer {
		return 20
	}
	return 50
}

// loopback reports whether the host can serve the command's ports.
func loopback(b bench) bool { return b.exec.Capabilities().Loopback.Enforced }

func ownResults(t *testing.T, b bench) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			cmd := b.sh(fmt.Sprintf("echo run %d; echo err %d >&2; exit %d", i, i, i))
			result, err := b.exec.Run(t.Context(), cmd)
			if err != nil {
				t.Error(err)
				return
			}
			wantEnd(t, result, executor.ReasonExit, i)
			equal(t, "stdout", result.Stdout.String(), fmt.Sprintf("run %d\n", i))
			equal(t, "stderr", result.Stderr.String(), fmt.Sprintf("err %d\n", i))
		})
	}
	all.Wait()
}

// openFiles counts the descriptors of the test process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := filepath.Glob("/dev/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("cannot count the open files: /dev/fd is empty")
	}
	open := 0
	for _, entry := range entries {
		if _, err := os.Lstat(entry); err == nil {
			open++
		}
	}
	return open
}
