//go:build unix

package executortest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// answering returns a function that answers each connection with a word, and counts them.
func answering(word string, count *atomic.Int32) func(net.Listener) {
	return func(l net.Listener) {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			_, _ = io.WriteString(conn, word)
			_ = conn.Close()
		}
	}
}

// ask returns a program that prints the answer of a port.
func ask(port int) string {
	return fmt.Sprintf(`import socket
try:
    s = socket.create_connection(("127.0.0.1", %d), 30)
    print(s.makefile().read(), end="")
except OSError as e:
    print(type(e).__name__, end="")
`, port)
}

func listen(t *testing.T, b bench) {
	if !loopback(b) {
		return // needNamespaces
	}
	var first, second atomic.Int32
	cmd := b.command("python3", "-S", "-c", ask(3128)+ask(3129)+ask(3130))
	cmd.Listen = map[uint16]func(net.Listener){3128: answering("one ", &first), 3129: answering("two ", &second)}
	equal(t, "answers", b.output(cmd), "one two ConnectionRefusedError")
	equal(t, "connections", [2]int32{first.Load(), second.Load()}, [2]int32{1, 1})
}

// listenGone checks that a port is closed when the command has ended, and that a function of Listen
// that does not return holds up nothing.
func listenGone(t *testing.T, b bench) {
	if !loopback(b) {
		return
	}
	returned, stop := make(chan error, 1), make(chan struct{})
	defer close(stop)
	cmd := b.sh("exit 3")
	cmd.Listen = map[uint16]func(net.Listener){
		3128: func(l net.Listener) {
			_, err := l.Accept()
			returned <- err
		},
		3129: func(net.Listener) { <-stop },
	}
	wantEnd(t, b.run(cmd), executor.ReasonExit, 3)
	select {
	case err := <-returned:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept after the end: %v, want net.ErrClosed", err)
		}
	case <-time.After(patience):
		t.Error("the listener is not closed")
	}
}

// listenApart runs two commands at once that listen on the same port. Each must reach its own
// listener.
func listenApart(t *testing.T, b bench) {
	if !loopback(b) {
		return
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var count atomic.Int32
			word := fmt.Sprint("run ", i)
			cmd := b.command("python3", "-S", "-c", ask(3128))
			cmd.Listen = map[uint16]func(net.Listener){3128: answering(word, &count)}
			result, err := b.exec.Run(t.Context(), cmd)
			if err != nil {
				t.Error(err)
				return
			}
			equal(t, "answer", result.Stdout.String(), word)
			equal(t, "connections", count.Load(), 1)
		})
	}
	all.Wait()
	cmd := b.command("python3", "-S", "-c", ask(3128))
	equal(t, "without a port", b.output(cmd), "ConnectionRefusedError")
}

func listenUnstarted(t *testing.T, b bench) {
	if !loopback(b) {
		return
	}
	cmd := b.command("no-such-program")
	cmd.Listen = map[uint16]func(net.Listener){3128: func(net.Listener) { t.Error("it is served") }}
	wantEnd(t, b.run(cmd), executor.ReasonSetup, 127)
}

// secrets runs a command that reads a secret and tries to change it, and searches the disk for it.
func secrets(t *testing.T, b bench) {
	if !loopback(b) {
		return
	}
	value := fmt.Sprintf("secret value %d", time.Now().UnixNano())
	cmd := b.sh(`cat /run/secrets/A_KEY; echo; ls /run/secrets; for f in /run/secrets/A_KEY /run/secrets/NEW; do (echo x > $f) 2>/dev/null && echo written; done; rm -f /run/secrets/A_KEY 2>/dev/null && echo removed; cat /run/secrets/A_KEY`)
	cmd.Secrets = map[string]string{"A_KEY": value, "B": ""}
	equal(t, "output", b.output(cmd), value+"\nA_KEY\nB\n"+value)
	for _, dir := range []string{b.dir, b.beside} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), value) {
				t.Errorf("%s holds it", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "another command", b.output(b.sh("ls /run/secrets 2>/dev/null || echo none")), "none\n")
}

func needNamespaces(t *testing.T, b bench) {
	if loopback(b) {
		return
	}
	port, secret := b.sh("echo ran > ran"), b.sh("echo ran > ran")
	port.Listen = map[uint16]func(net.Listener){3128: func(net.Listener) {}}
	secret.Secrets = map[string]string{"X": "value"}
	for _, cmd := range []executor.Command{port, secret} {
		_, err := b.exec.Run(t.Context(), cmd)
		if !errors.Is(err, executor.ErrCommand) || !strings.Contains(err.Error(), "needs namespaces") {
			t.Errorf("error %v, want ErrCommand that says what it needs", err)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("a command ran")
	}
}
