//go:build unix

package executortest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// extras test pipes, ports and secrets of commands.
var extras = []conformance{
	{"pipes", pipes},
	{"a pipe ends with the command", pipeEnds},
	{"pipes of a process that goes on", startedPipes},
	{"nothing but pipes", onlyPipes},
	{"extras without meaning", badExtras},
	{"a port that the host serves", listen},
	{"a port is gone after the command", listenGone},
	{"ports of others are not reached", listenApart},
	{"a command that does not start leaves its port", listenUnstarted},
	{"secrets", secrets},
	{"without namespaces", needNamespaces},
}

// pair opens a pipe for a command.
func pair(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = read.Close()
		_ = write.Close()
	})
	return read, write
}

// passes reports whether the executor passes pipes on. If it does not, its error must say so.
func passes(t *testing.T, b bench) bool {
	t.Helper()
	if b.exec.Capabilities().Pipes.Enforced {
		return true
	}
	cmd := b.sh("exit 0")
	_, write := pair(t)
	cmd.Pipes = []*os.File{write}
	if _, err := b.exec.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) {
		t.Errorf("an executor that passes no pipes on: %v, want ErrCommand", err)
	}
	return false
}

// pipes runs a command with four pipes and checks which descriptors it has.
func pipes(t *testing.T, b bench) {
	if !passes(t, b) {
		return
	}
	toRead, toWrite := pair(t)
	fromRead, fromWrite := pair(t)
	_, third := pair(t)
	_, fourth := pair(t)
	_, _ = toWrite.WriteString("to the command\n")
	_ = toWrite.Close()
	cmd := b.sh(`read line <&3; echo "$line, and back" >&4; for n in 0 1 2 3 4 5 6 7 8 9; do if (: <&$n) 2>/dev/null || (: >&$n) 2>/dev/null; then echo $n; fi; done`)
	cmd.Pipes = []*os.File{toRead, fromWrite, third, fourth}
	equal(t, "descriptors", b.output(cmd), "0\n1\n2\n3\n4\n5\n6\n")
	_ = fromWrite.Close()
	got, err := io.ReadAll(fromRead)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "answer", string(got), "to the command, and back\n")
}

// pipeEnds kills a command with a pipe and the processes that it has started. The pipe must end.
func pipeEnds(t *testing.T, b bench) {
	if !passes(t, b) {
		return
	}
	read, write := pair(t)
	cmd := b.sh("sleep 300 & echo up >&3; wait")
	cmd.Pipes = []*os.File{write}
	p, err := b.exec.Start(t.Context(), cmd, executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	lines := bufio.NewReader(read)
	if line, err := lines.ReadString('\n'); line != "up\n" || err != nil {
		t.Errorf("it wrote %q, %v", line, err)
	}
	p.Kill()
	if _, err := p.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	_ = read.SetReadDeadline(time.Now().Add(patience))
	if line, err := lines.ReadString('\n'); line != "" || !errors.Is(err, io.EOF) {
		t.Errorf("after the end it reads %q, %v, want the end of the file", line, err)
	}
}

// startedPipes exchanges lines with an interactive program over two pipes.
func startedPipes(t *testing.T, b bench) {
	if !passes(t, b) {
		return
	}
	toRead, toWrite := pair(t)
	fromRead, fromWrite := pair(t)
	cmd := b.sh(`i=0; while [ $i -lt 100 ]; do echo $i >&4; read answer <&3; [ "$answer" = "a$i" ] || exit 9; i=$((i+1)); done`)
	cmd.Pipes = []*os.File{toRead, fromWrite}
	p, err := b.exec.Start(t.Context(), cmd, executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = toRead.Close(), fromWrite.Close()
	lines, count := bufio.NewScanner(fromRead), 0
	for ; lines.Scan(); count++ {
		_, _ = fmt.Fprintf(toWrite, "a%s\n", lines.Text())
	}
	result, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantEnd(t, result, executor.ReasonExit, 0)
	equal(t, "questions", count, 100)
}

// onlyPipes passes files that could lead out of a sandbox. They must be refused.
func onlyPipes(t *testing.T, b bench) {
	open := func(path string) *os.File {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	write(t, b.beside, "file", 0o644, song0)
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	listening, err := socket.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listening.Close() })
	closed, _ := pair(t)
	_ = closed.Close()
	for name, file := range map[string]*os.File{
		"directory": open(b.beside), "file": open(filepath.Join(b.beside, "file")), "device": open(os.DevNull),
		"socket": listening, "closed": closed, "nothing": nil,
	} {
		cmd := b.sh("echo ran > ran")
		cmd.Pipes = []*os.File{file}
		if result, err := b.exec.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) || result.Reason != executor.ReasonSetup {
			t.Errorf("%s: reason %q, error %v, want ErrCommand", name, result.Reason, err)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("a command ran")
	}
}

func badExtras(t *testing.T, b bench) {
	_, w := pair(t)
	serve := func(net.Listener) {}
	many := map[string]string{}
	for i := range 17 {
		many[fmt.Sprint("S", i)] = "x"
	}
	for name, change := range map[string]func(*executor.Command){
		"five pipes": func(c *executor.Command) { c.Pipes = []*os.File{w, w, w, w, w} },
		"three ports": func(c *executor.Command) {
			c.Listen = map[uint16]func(net.Listener){2000: serve, 2001: serve, 2002: serve}
		},
		"low port":      func(c *executor.Command) { c.Listen = map[uint16]func(net.Listener){80: serve} },
		"unserved port": func(c *executor.Command) { c.Listen = map[uint16]func(net.Listener){2000: nil} },
		"secret's name": func(c *executor.Command) { c.Secrets = map[string]string{"../X": ""} },
		"digit first":   func(c *executor.Command) { c.Secrets = map[string]string{"1X": ""} },
		"no name":       func(c *executor.Command) { c.Secrets = map[string]string{"": ""} },
		"long name":     func(c *executor.Command) { c.Secrets = map[string]string{strings.Repeat("X", 65): ""} },
		"many secrets":  func(c *executor.Command) { c.Secrets = many },
		"large secret":  func(c *executor.Command) { c.Secrets = map[string]string{"X": strings.Repeat("x", 64<<10+1)} },
	} {
		cmd := b.sh("exit 0")
		change(&cmd)
		if result, err := b.exec.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) || result.Reason != executor.ReasonSetup {
			t.Errorf("%s: reason %q, error %v, want ErrCommand", name, result.Reason, err)
		}
	}
}
