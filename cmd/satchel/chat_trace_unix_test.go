//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/line"
	tracing "github.com/satchel-go/satchel/observe/trace"
	"github.com/satchel-go/satchel/satcheltest"
)

// What cannot be written is dropped. Standard error says so, and the chat goes on.
func TestChatTraceThatCannotBeWritten(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	dropped := regexp.MustCompile(`^trace: [1-9]\d* lines dropped: [^\n]+\n$`)
	write := func(t *testing.T, device string, flags ...string) {
		began := time.Now()
		got := converse(t, satcheltest.Plan(satcheltest.Turn{Answer: "one"}), "", append(flags, "--trace", device, "hi")...)
		if got.code != 0 || got.out != "one\n" || !dropped.MatchString(got.err) {
			t.Errorf("%s: code %d, out %q, err %q", device, got.code, got.out, got.err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s: the chat took %v", device, took)
		}
	}
	write(t, pipe, "chat") // it has no reader
	if _, err := os.Stat("/dev/full"); err == nil {
		each(t, func(t *testing.T, flags ...string) { write(t, "/dev/full", flags...) })
	}
}

// A file has one writer.
func TestChatTraceOfAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	other, err := tracing.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	got := converse(t, steps(), "", "chat", "--trace", file, "hi")
	if got.code != cli.ExitUsage || !strings.Contains(got.err, "directory") || len(got.requests) > 0 {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}

// Ctrl-C ends the turn that runs. Its request has an error in the trace, which goes on and ends with the chat.
func TestChatTraceOfAnInterruptedTurn(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
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
		got := converse(t, script, "", append(flags, "--trace", file, "slow", "fast")...)
		if got.code != cli.ExitFailed || got.out != "fine\n" || !strings.Contains(got.err, "turn 1: cancelled") {
			t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
		var events []string
		for _, l := range linesOf(readTrace(t, file), line.EventCall, line.EventAnswer, line.EventError) {
			events = append(events, l.Event)
		}
		if got, want := strings.Join(events, " "), "call error call answer"; got != want {
			t.Errorf("the trace has %q, want %q", got, want)
		}
	})
}

// Ctrl-C at the prompt ends the process, and before that the trace.
func TestTraceIsEndedAtThePrompt(t *testing.T) {
	server, err := satcheltest.Open(satcheltest.Plan(satcheltest.Turn{Answer: "one"}))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, tc := range []struct {
		args         []string
		line, answer string
	}{
		{[]string{"chat"}, "hi", "one"},
		{[]string{"tool", "--skills", testSkills(t), "-"}, `{"tool":"skill_list_docs","args":{"skill":"xlsx"}}`, `"[]"`},
	} {
		t.Run(tc.args[0], func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "trace.jsonl")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestChatTerminated$")
			args := append([]string{tc.args[0], "--trace", file}, tc.args[1:]...)
			cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+server.URL()+"/", "OPENAI_MODEL=scripted", chatVar+"="+strings.Join(args, "\n"))
			interruptAfter(t, cmd, tc.line, tc.answer)
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
				t.Errorf("the program ended with %v, want %v", cmd.ProcessState, syscall.SIGINT)
			}
			readTrace(t, file)
		})
	}
}

// interruptAfter starts a command, sends it a line, and interrupts it after its answer.
func interruptAfter(t *testing.T, cmd *exec.Cmd, line, answer string) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(out).ReadString('\n'); err != nil || got != answer+"\n" {
		t.Errorf("answer %q, %v, want %q", got, err, answer)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	// A turn may still handle the first signal.
	for isEnded := false; !isEnded; {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			isEnded = true
		case <-time.After(100 * time.Millisecond):
		}
	}
}
