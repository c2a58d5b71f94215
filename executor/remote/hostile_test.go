//go:build unix

package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// raw is one side of a connection of which the test writes the frames.
type raw struct {
	t  *testing.T
	rw io.ReadWriteCloser
	r  frameReader
}

func newRaw(t *testing.T, rw io.ReadWriteCloser) *raw {
	return &raw{t: t, rw: rw, r: frameReader{from: rw}}
}

// send sends a frame. The body is bytes, or is sent as JSON. The other side may have ended.
func (r *raw) send(k kind, stream uint32, body any) {
	b, ok := body.([]byte)
	if !ok && body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			r.t.Error(err)
		}
	}
	_, _ = r.rw.Write(appendFrame(nil, k, stream, b))
}

// until reads frames until one of a kind.
func (r *raw) until(k kind) frame {
	for {
		f, err := r.r.next()
		if err != nil {
			return frame{}
		}
		if f.kind == k {
			f.body = bytes.Clone(f.body)
			return f
		}
	}
}

// drain reads and drops all further frames.
func (r *raw) drain() { go func() { _, _ = io.Copy(io.Discard, r.rw) }() }

// TestHostileHosts sends a runner what no host sends. The runner must end the connection and its commands.
func TestHostileHosts(t *testing.T) {
	hello := func(r *raw) {
		r.send(kindHello, 0, helloMessage{Version: version})
		r.until(kindHello)
		r.drain()
	}
	run := runMessage{Args: joined([]string{"true"}), Workspace: []byte("/"), Stdin: true}
	for name, attack := range map[string]func(r *raw){
		"a command before the hello": func(r *raw) { r.send(kindRun, 1, run) },
		"a search before the hello":  func(r *raw) { r.send(kindFind, 1, findMessage{}) },
		"two hellos":                 func(r *raw) { hello(r); r.send(kindHello, 0, helloMessage{Version: version}) },
		"hello on a stream":          func(r *raw) { r.send(kindHello, 5, helloMessage{Version: version}) },
		"many paths":                 func(r *raw) { r.send(kindHello, 0, helloMessage{Paths: make([][]byte, maxVerify+1)}) },
		"no JSON":                    func(r *raw) { hello(r); r.send(kindRun, 1, []byte("{{")) },
		"a frame of runners":         func(r *raw) { hello(r); r.send(kindResult, 1, resultMessage{}) },
		"an unknown frame":           func(r *raw) { hello(r); r.send(kinds+3, 1, nil) },
		"a stream of runners":        func(r *raw) { hello(r); r.send(kindRun, ofRunner+1, run) },
		"a stream too far":           func(r *raw) { hello(r); r.send(kindRun, 2, run) },
		"stream 0":                   func(r *raw) { hello(r); r.send(kindRun, 0, run) },
		"a stream twice":             func(r *raw) { hello(r); r.send(kindRun, 1, run); r.send(kindRun, 1, run) },
		"an unknown pipe":            func(r *raw) { hello(r); m := run; m.Pipes = []byte("x"); r.send(kindRun, 1, m) },
		"many pipes":                 func(r *raw) { hello(r); m := run; m.Pipes = []byte("rwrwr"); r.send(kindRun, 1, m) },
		"unended arguments":          func(r *raw) { hello(r); m := run; m.Args = []byte("true"); r.send(kindRun, 1, m) },
		"many arguments":             func(r *raw) { hello(r); m := run; m.Args = make([]byte, maxEntries+1); r.send(kindRun, 1, m) },
		"a kill of nothing":          func(r *raw) { hello(r); r.send(kindKill, 1, nil) },
		"data for nothing":           func(r *raw) { hello(r); r.send(kindData, 1, []byte("x")) },
		"data after the end": func(r *raw) {
			hello(r)
			r.send(kindRun, 1, run)
			r.send(kindEnd, 1, nil)
			r.send(kindData, 1, []byte("x"))
		},
		"too much data": func(r *raw) {
			hello(r)
			r.send(kindRun, 1, run)
			for range window/maxData + 1 {
				r.send(kindData, 1, make([]byte, maxData))
			}
		},
		"credit that was not used": func(r *raw) {
			hello(r)
			m := run
			m.Pipes = []byte("w")
			r.send(kindRun, 1, m)
			r.send(kindCredit, 2, []byte{0, 0, 0, 1})
		},
		"many commands": func(r *raw) {
			hello(r)
			for i := range uint32(maxCommands + 1) {
				r.send(kindRun, i+1, run)
			}
		},
		"too long": func(r *raw) { hello(r); _, _ = r.rw.Write([]byte{0, 16, 0, 1, byte(kindRun), 0, 0, 0, 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			host, runner := net.Pipe()
			defer host.Close()
			served := make(chan error, 1)
			go func() {
				served <- Serve(t.Context(), runner, func() (executor.Executor, error) { return stub{run: waits}, nil })
			}()
			attack(newRaw(t, host))
			select {
			case err := <-served:
				if !errors.Is(err, errProtocol) {
					t.Errorf("%v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the runner goes on")
			}
		})
	}
}

// TestHostileRunners sends a host what no runner sends. The command must be lost, or not have begun.
func TestHostileRunners(t *testing.T) {
	hello := func(r *raw) {
		f := r.until(kindHello)
		var asked helloMessage
		if err := json.Unmarshal(f.body, &asked); err != nil {
			r.t.Error(err)
		}
		answer := helloAnswer{Version: version}
		for _, path := range asked.Paths {
			answer.Seen = append(answer.Seen, see(string(path)))
		}
		r.send(kindHello, 0, answer)
		r.until(kindRun)
		r.drain()
	}
	ended := resultMessage{Reason: executor.ReasonExit}
	setup := map[string]bool{}
	attacks := map[string]func(r *raw){
		"no hello": func(r *raw) { setup["no hello"] = true; r.until(kindHello); r.send(kindStarted, 1, nil) },
		"another version": func(r *raw) {
			setup["another version"] = true
			r.until(kindHello)
			r.send(kindHello, 0, helloAnswer{Version: 9})
		},
		"no identities": func(r *raw) {
			setup["no identities"] = true
			r.until(kindHello)
			r.send(kindHello, 0, helloAnswer{Version: version})
		},
		"two hellos":          func(r *raw) { hello(r); r.send(kindHello, 0, helloAnswer{Version: version}) },
		"a frame of hosts":    func(r *raw) { hello(r); r.send(kindKill, 1, nil) },
		"another command":     func(r *raw) { hello(r); r.send(kindResult, 7, ended) },
		"no JSON":             func(r *raw) { hello(r); r.send(kindResult, 1, []byte("[]")) },
		"no reason":           func(r *raw) { hello(r); r.send(kindResult, 1, resultMessage{}) },
		"its own loss":        func(r *raw) { hello(r); r.send(kindResult, 1, resultMessage{Reason: executor.ReasonLost}) },
		"more than it sent":   func(r *raw) { hello(r); m := ended; m.Stdout.Head = 1; r.send(kindResult, 1, m) },
		"less than nothing":   func(r *raw) { hello(r); m := ended; m.Stdout.Head = -1; r.send(kindResult, 1, m) },
		"less than it sent":   func(r *raw) { hello(r); r.send(kindCaptured, 1, []byte("x")); r.send(kindResult, 1, ended) },
		"a signal of a novel": func(r *raw) { hello(r); m := ended; m.Signal = strings.Repeat("x", 99); r.send(kindResult, 1, m) },
		"a start of Run":      func(r *raw) { hello(r); r.send(kindStarted, 1, nil) },
		"data":                func(r *raw) { hello(r); r.send(kindData, 1, []byte("x")) },
		"an unasked port":     func(r *raw) { hello(r); r.send(kindListen, 1, []byte{0, 80}) },
		"a port twice":        func(r *raw) { hello(r); r.send(kindListen, 1, []byte{12, 56}); r.send(kindListen, 1, []byte{12, 56}) },
		"a connection too far": func(r *raw) {
			hello(r)
			r.send(kindListen, 1, []byte{12, 56})
			r.send(kindAccept, ofRunner+2, acceptMessage{Command: 1, Port: 3128})
		},
		"a connection to none": func(r *raw) { hello(r); r.send(kindAccept, ofRunner+1, acceptMessage{Command: 1, Port: 3128}) },
		"a stream of hosts": func(r *raw) {
			hello(r)
			r.send(kindListen, 1, []byte{12, 56})
			r.send(kindAccept, 2, acceptMessage{Command: 1, Port: 3128})
		},
		"many connections": func(r *raw) {
			hello(r)
			r.send(kindListen, 1, []byte{12, 56})
			for i := range uint32(maxConns + 1) {
				r.send(kindAccept, ofRunner+1+i, acceptMessage{Command: 1, Port: 3128})
			}
		},
		"endless output": func(r *raw) {
			hello(r)
			for range 10 {
				r.send(kindCaptured, 1, make([]byte, maxData))
			}
		},
		"a program that was found": func(r *raw) { hello(r); r.send(kindFound, 1, foundMessage{At: []byte("/bin/sh")}) },
		"half a frame":             func(r *raw) { hello(r); _, _ = r.rw.Write([]byte{0, 0, 0, 9, byte(kindData)}); _ = r.rw.Close() },
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			c := &carrier{wire: func(rw io.ReadWriteCloser) { attack(newRaw(t, rw)) }}
			e := newTestExecutor(t, c)
			defer e.Close()
			cmd := commandIn(t.TempDir())
			cmd.Listen = map[uint16]func(net.Listener){3128: func(l net.Listener) {
				for { // it accepts all and closes none
					if _, err := l.Accept(); err != nil {
						return
					}
				}
			}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			result, err := e.Run(ctx, cmd)
			want, reason := executor.ErrLost, executor.ReasonLost
			if setup[name] {
				want, reason = executor.ErrSetup, executor.ReasonSetup
			}
			if !errors.Is(err, want) || result.Reason != reason {
				t.Errorf("%s, %v, want %v", result.Reason, err, want)
			}
		})
	}
}

// TestOutputThatDoesNotEnd answers an interactive command whose output has not ended.
func TestOutputThatDoesNotEnd(t *testing.T) {
	c := newTestCommand(t)
	take := func(k kind, body any) error {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return c.runner.conn.take(frame{kind: k, stream: c.stream.id, body: b})
	}
	if err := take(kindStarted, nil); err != nil {
		t.Fatal(err)
	}
	if err := take(kindResult, resultMessage{Reason: executor.ReasonExit}); !errors.Is(err, errProtocol) {
		t.Errorf("%v", err)
	}
}

// TestHostileCapabilities bounds what a runner says of itself.
func TestHostileCapabilities(t *testing.T) {
	said := executor.Capabilities{
		Isolation: "very much", Advice: make([]string, 1000), Unavailable: strings.Repeat("x", 10_000),
		Memory: executor.Capability{Enforced: true, Note: "first\nsecond\x1b[2J"}, Network: executor.Capability{Enforced: true, Note: "none"},
	}
	bound := executor.Capabilities{
		Isolation: executor.IsolationNamespaces, Memory: executor.Capability{Enforced: true, Note: "cgroup"},
		Network: executor.Capability{Note: "open"}, DiesWithHost: executor.Capability{Enforced: true, Note: "container"},
	}
	got := lower(bound, boundCapabilities(said))
	if !got.Isolation.IsNone() || len(got.Advice) > maxListed || len(got.Unavailable) != maxNote {
		t.Errorf("isolation %q, %d pieces of advice, %d bytes", got.Isolation, len(got.Advice), len(got.Unavailable))
	}
	if got.Memory != (executor.Capability{Enforced: true, Note: "first second [2J"}) || got.Network.Enforced || !got.DiesWithHost.Enforced {
		t.Errorf("%+v, %+v, %+v", got.Memory, got.Network, got.DiesWithHost)
	}
}

// TestIsolationIsLowered checks which isolation a carrier and a runner have together.
func TestIsolationIsLowered(t *testing.T) {
	none, landlock, container, namespaces := executor.Isolation(""), executor.IsolationLandlock, executor.IsolationContainer, executor.IsolationNamespaces
	for _, tt := range [][3]executor.Isolation{
		{namespaces, namespaces, namespaces}, {namespaces, landlock, landlock}, {landlock, namespaces, landlock},
		{container, landlock, container}, {container, none, container}, {none, namespaces, none}, {namespaces, none, none},
	} {
		if got := lower(executor.Capabilities{Isolation: tt[0]}, executor.Capabilities{Isolation: tt[1]}).Isolation; got != tt[2] {
			t.Errorf("%s and %s make %s, want %s", tt[0], tt[1], got, tt[2])
		}
	}
}

// TestAnotherDirectoryIsRefused opens runners that see another directory, or none.
func TestAnotherDirectoryIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := false
		c := &carrier{stub: stub{run: func(ctx context.Context, cmd executor.Command) (executor.Result, error) {
			ran = true
			return exits(ctx, cmd)
		}}}
		for name, at := range map[string]string{"another": t.TempDir(), "none": "/no/such/directory", "a link": link(t)} {
			e := newTestExecutor(t, c, WithWorkspaceAt(at))
			result, err := e.Run(t.Context(), commandIn(t.TempDir()))
			if !errors.Is(err, executor.ErrSetup) || result.Reason != executor.ReasonSetup || !strings.Contains(err.Error(), "does not see") {
				t.Errorf("%s: %s, %v", name, result.Reason, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if ran {
			t.Error("a command ran")
		}
	})
}
