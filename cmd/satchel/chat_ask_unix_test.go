//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// screen is what a terminal has shown.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// until waits for a text on the screen. The test fails if the program ends first.
func (s *screen) until(t *testing.T, text string, ended <-chan struct{}) {
	t.Helper()
	for !strings.Contains(s.String(), text) {
		select {
		case <-ended:
			t.Errorf("ended without %q: %s", text, s)
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// On a real terminal a question is shown before its answer is typed: what was typed
// ahead is none. Prompts that are piped in are prompts all the same.
func TestChatAsksOnARealTerminal(t *testing.T) {
	if args := os.Getenv(chatVar); args != "" {
		os.Exit(run(context.Background(), strings.Split(args, "\n"), cli.Console{
			In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, TTY: cli.OpenTerminal, Terminal: cli.IsTerminal(os.Stdin),
		}))
	}
	skills := listedSkills(t, "true")
	for name, test := range map[string]struct {
		ahead, answer, piped string
	}{
		"typed prompts": {"yes", "no", ""},
		"an answer":     {"no", "yes", ""},
		"piped prompts": {"yes", "no", "first\nyes\n"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, flags ...string) {
				keys, terminal, err := pty.Open()
				if err != nil {
					t.Fatal(err)
				}
				defer keys.Close()
				defer terminal.Close()
				shown, ended := &screen{}, make(chan struct{})
				go func() { _, _ = io.Copy(shown, keys) }()
				plan := satcheltest.Plan(
					satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("free"), {Calls: []core.ToolCall{command("free", "echo one")}}}, Answer: "first answer"},
					satcheltest.Turn{Answer: "second answer"},
				)
				var ahead sync.Once
				server, err := satcheltest.Open(func(r satcheltest.Request) satcheltest.Response {
					ahead.Do(func() {
						_, _ = keys.WriteString(test.ahead + "\n")
						shown.until(t, test.ahead+"\r\n", ended) // wait until the terminal has echoed it
					})
					return plan(r)
				})
				if err != nil {
					t.Fatal(err)
				}
				defer server.Close()
				args := append(flags, "--skills", skills, "--approve", "ask")
				cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestChatAsksOnARealTerminal$")
				var out screen
				cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, &out, terminal
				if test.piped != "" {
					cmd.Stdin, cmd.Stderr = strings.NewReader(test.piped), &out
				} else {
					args = append(args, "first")
				}
				cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+server.URL()+"/", "OPENAI_MODEL=scripted", chatVar+"="+strings.Join(args, "\n"))
				cmd.ExtraFiles = []*os.File{terminal}
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				go func() {
					defer close(ended)
					_ = cmd.Wait()
				}()
				shown.until(t, "allow it?", ended)
				shown.until(t, "\n? ", ended)
				_, _ = keys.WriteString(test.answer + "\n")
				<-ended
				runs := slices.ContainsFunc(server.Requests(), func(r satcheltest.Request) bool { return r.Contains(ran) })
				if runs != (test.answer == "yes") || !strings.Contains(out.String(), "first answer") {
					t.Errorf("the command ran: %t\nscreen: %s\nout: %s", runs, shown, &out)
				}
				if strings.Contains(out.String(), "second answer") != (test.piped != "") {
					t.Errorf("the prompts were not read as they came: %s", &out)
				}
			})
		})
	}
}
