//go:build unix

package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

// Ctrl-C ends the turn that runs and nothing else.
func TestChatInterrupt(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		script := func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("slow") {
				// The turn handles the signal by now, because it has sent this request.
				if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
					t.Error(err)
				}
				<-r.Context().Done()
			}
			return satcheltest.Response{Text: "fine"}
		}
		got := converse(t, script, "", append(flags, "slow", "fast")...)
		if got.code != 1 || got.out != "fine\n" || !strings.Contains(got.err, "turn 1: cancelled") {
			t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
	})
}

// chatVar makes a copy of the test binary the program; its arguments are the
// variable's lines.
const chatVar = "SATCHEL_TEST_CHAT"

// TestChatTerminated ends chats while the model waits for a session. Nothing is left, and the
// output has no answer.
func TestChatTerminated(t *testing.T) {
	if args := os.Getenv(chatVar); args != "" {
		os.Exit(run(context.Background(), strings.Split(args, "\n"), cli.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv}))
	}
	skills := runSkills(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		each(t, func(t *testing.T, flags ...string) {
			server, err := satcheltest.Open(steps(calls(satcheltest.ToolCall("skill_load", `{"skill":"lines"}`)), calls(execs(`"command":"echo > out/up; sleep 300","tty":true`))))
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			places := t.TempDir()
			args := append(flags, "--skills", skills, "--workspaces", places, "go")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestChatTerminated$")
			cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+server.URL()+"/", "OPENAI_MODEL=scripted", chatVar+"="+strings.Join(args, "\n"))
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = cmd.Wait()
			}()
			for told := false; !told; time.Sleep(5 * time.Millisecond) {
				select {
				case <-ended:
					t.Fatalf("the chat has ended by itself: %s", out.String())
				default:
				}
				if told = has(places, "up"); told {
					_ = cmd.Process.Signal(sig)
				}
			}
			<-ended
			if code := cmd.ProcessState.ExitCode(); code != cli.ExitFailed {
				t.Errorf("%v: code %d, output %s", sig, code, out.String())
			}
			empty(t, places)
		})
	}
}

// has reports whether there is a file of that name below a directory.
func has(dir, name string) (found bool) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, _ error) error {
		found = found || d != nil && d.Name() == name
		return nil
	})
	return found
}
